import escapeHtml from 'escape-html';
import { letOthersRun } from '../../util/promises';
import { replaceInvisible } from '../../util/text';

/** A part of a page made of a caller's text. */
export interface Markup {
  readonly html: string;
  /** Whether some of the text was left out, because the part would have become too large. */
  readonly isCut: boolean;
}

/** How many characters are escaped at a time. */
const STEP = 1024;

/**
 * Writes a text for a page: escaped, with each character that cannot be seen as its code point (`U+202E`), and cut before it
 * takes more than `maxBytes` bytes of UTF-8. Line breaks become line feeds.
 */
export function markup(text: string, maxBytes: number): Markup {
  let html = '';
  let left = maxBytes;
  for (const part of divided(text, STEP)) {
    const piece = escaped(part);
    const bytes = Buffer.byteLength(piece);
    if (bytes > left) return { html: html + shortPart(part, left), isCut: true };
    html += piece;
    left -= bytes;
  }
  return { html, isCut: false };
}

/** Divides a text into parts of this length, or a little more: neither a surrogate pair nor a CRLF is divided. */
function* divided(text: string, length: number): Iterable<string> {
  let end: number;
  for (let start = 0; start < text.length; start = end) {
    end = start + length;
    while (/[\uD800-\uDBFF\r]/.test(text.charAt(end - 1))) end++;
    yield text.slice(start, end);
  }
}

/** As much of a text, character by character, as fits. */
function shortPart(text: string, maxBytes: number): string {
  let html = '';
  let left = maxBytes;
  for (const character of text) {
    const piece = escaped(character);
    left -= Buffer.byteLength(piece);
    if (left < 0) break;
    html += piece;
  }
  return html;
}

function escaped(text: string): string {
  const html = escapeHtml(text.replace(/\r\n/g, '\n'));
  if (ALL_VISIBLE.test(html)) return html;
  return replaceInvisible(html, (character, place) =>
    isJoining(html, place) ? character : `<span class="code-point">${codePoint(character)}</span>`,
  );
}

/** Most texts: all of it can be seen. */
const ALL_VISIBLE = /^[\n -~]*$/;

/** Characters between which a joiner or a non-joiner (U+200D, U+200C) is part of a word or an emoji. */
const JOINED = /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Variation_Selector}]$/u;
const JOINING = /^[\u200C\u200D][\p{L}\p{M}\p{Extended_Pictographic}]/u;

/** Whether the character at a place of a text is a joiner or a non-joiner within a word or an emoji. */
function isJoining(text: string, place: number): boolean {
  return JOINING.test(text.slice(place, place + 3)) && JOINED.test(text.slice(Math.max(0, place - 2), place));
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Most bytes of a text in a line or in a cell, unless said otherwise. */
const LINE_BYTES = 1500;

/** Writes a short text: isolated, so that its writing direction changes nothing around it; `…` shows that it was cut. */
export function shownText(text: string, maxBytes = LINE_BYTES): string {
  const { html, isCut } = markup(text, maxBytes);
  return `<bdi>${html}${isCut ? '…' : ''}</bdi>`;
}

/** A part of a text, and the class of the style sheet that colours it; or where a part that folds begins, goes on and ends. */
export type Token =
  | readonly [text: string, colour: 'key' | 'text' | 'literal' | 'comment' | 'removed' | 'added' | undefined]
  | keyof typeof FOLDS;

/** Before the line that stays visible, of a part that is open or folded at first; the end of this line; and after the part. */
const FOLDS = {
  fold: '<details open><summary>',
  folded: '<details><summary>',
  rest: '<span class="more"></span>\n</summary>',
  end: '</details>',
} as const;

/** How many parts of a text are written at a time, and about how many characters, after which other calls run. */
const PARTS = 1024;
const PARTS_LENGTH = 64 * 1024;

/** The length of a part that is written at once: a page may need forty characters for each. */
const MAX_PART = 4 * STEP;

/** Divides the long ones among the parts of a text. */
function* withoutLong(tokens: Iterable<Token>): Iterable<Token> {
  for (const token of tokens) {
    if (typeof token === 'string' || token[0].length <= MAX_PART) yield token;
    else for (const part of divided(token[0], MAX_PART)) yield [part, token[1]];
  }
}

/**
 * Writes a text for a page as {@link markup} does, in colours and to fold if these fit into `maxBytes` too.
 *
 * @param tokens - divides the text into its parts, from its beginning each time.
 */
export async function coloured(tokens: () => Iterable<Token>, maxBytes: number): Promise<Markup> {
  let left = maxBytes;
  const html = await inSteps(tokens(), (token) => {
    const piece = tokenMarkup(token, left);
    left -= piece === undefined ? Infinity : Buffer.byteLength(piece);
    return left < 0 ? undefined : piece;
  });
  if (html !== undefined) return { html, isCut: false };
  let room = maxBytes;
  let isCut = false;
  const text = await inSteps(tokens(), (token) => {
    if (isCut) return '';
    const part = markup(textOf(token), room);
    room -= Buffer.byteLength(part.html);
    isCut = part.isCut;
    return part.html;
  });
  return { html: text ?? '', isCut };
}

/** Writes a token; undefined if it would be cut. */
function tokenMarkup(token: Token, maxBytes: number): string | undefined {
  if (typeof token === 'string') return FOLDS[token];
  const [text, colour] = token;
  const { html, isCut } = markup(text, maxBytes);
  if (isCut) return undefined;
  return colour === undefined ? html : `<span class="${colour}">${html}</span>`;
}

/** Joins the texts of tokens. */
export async function plain(tokens: Iterable<Token>): Promise<string> {
  return (await inSteps(tokens, textOf)) ?? '';
}

function textOf(token: Token): string {
  if (typeof token !== 'string') return token[0];
  return token === 'rest' ? '\n' : '';
}

/**
 * Joins what is written of each token, and lets other calls run now and then, also before it returns. What is joined at a time is
 * short, since one text of 100,000 pieces takes long to lay out.
 *
 * @returns undefined if that is what is written of one of them.
 */
async function inSteps(
  tokens: Iterable<Token>,
  write: (token: Token) => string | undefined,
): Promise<string | undefined> {
  const steps: string[] = [];
  let pieces: string[] = [];
  let length = 0;
  for (const token of withoutLong(tokens)) {
    const piece = write(token);
    if (piece === undefined) return undefined;
    length += piece.length;
    if (pieces.push(piece) < PARTS && length < PARTS_LENGTH) continue;
    steps.push(pieces.join(''));
    pieces = [];
    length = 0;
    await letOthersRun();
  }
  steps.push(pieces.join(''));
  await letOthersRun();
  return steps.join('');
}
