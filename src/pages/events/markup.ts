import escapeHtml from 'escape-html';
import { Binding } from '../../config/values';
import { letOthersRun } from '../../util/promises';
import { replaceInvisible, shortened } from '../../util/text';
import { timeText } from '../../util/time';

/** A part of a page made of a caller's text. */
export interface Markup {
  readonly html: string;
  /** Whether some of the text was left out, because the part would have become too large. */
  readonly isCut: boolean;
}

/**
 * Writes a text for a page: escaped, with each character that cannot be seen as its code point (`U+202E`), and cut before it
 * takes more than `maxBytes` bytes of UTF-8. Line breaks become line feeds.
 */
export function markup(text: string, maxBytes: number): Markup {
  const start = text.slice(0, 2 * maxBytes).replaceAll('\r\n', '\n');
  const html = escaped(start);
  if (text.length <= 2 * maxBytes && Buffer.byteLength(html) <= maxBytes) return { html, isCut: false };
  let length = 0;
  let left = maxBytes;
  for (const [unit] of html.matchAll(UNIT)) {
    left -= Buffer.byteLength(unit);
    if (left < 0) break;
    length += unit.length;
  }
  return { html: html.slice(0, length), isCut: true };
}

/** A cut must not divide these: a code point that is written out, an escaped character, and any other character. */
const UNIT = /<span[^>]*>[^<]*<\/span>|&[^;]*;|[^]/gu;

function escaped(text: string): string {
  const html = escapeHtml(text);
  if (ALL_VISIBLE.test(html)) return html;
  return replaceInvisible(html, (character, place) => {
    if (isJoining(html, place)) return character;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `<span class="code-point">U+${code.padStart(4, '0')}</span>`;
  });
}

const ALL_VISIBLE = /^[\n -~]*$/;

/** Characters between which a joiner or a non-joiner (U+200D, U+200C) is part of a word or an emoji. */
const JOINED = /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Variation_Selector}]$/u;
const JOINING = /^[\u200C\u200D][\p{L}\p{M}\p{Extended_Pictographic}]/u;

function isJoining(text: string, place: number): boolean {
  return JOINING.test(text.slice(place, place + 3)) && JOINED.test(text.slice(Math.max(0, place - 2), place));
}

/** Writes a short text: isolated, so that its writing direction changes nothing around it; `…` shows that it was cut. */
export function shownText(text: string, maxBytes = 1500): string {
  const { html, isCut } = markup(text, maxBytes);
  return `<bdi>${html}${isCut ? '…' : ''}</bdi>`;
}

/** How many characters of a long text are written before other calls run. */
const LONG_STEP = 32 * 1024;

/** Writes a long text as {@link markup} does, and lets other calls run meanwhile. */
export async function longMarkup(text: string, maxBytes: number): Promise<Markup> {
  const pieces: string[] = [];
  let left = maxBytes;
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + LONG_STEP;
    // Neither a surrogate pair nor a CRLF is divided.
    while (/[\uD800-\uDBFF\r]/.test(text.charAt(end - 1))) end++;
    const { html, isCut } = markup(text.slice(start, end), left);
    pieces.push(html);
    if (isCut) return { html: pieces.join(''), isCut };
    left -= Buffer.byteLength(html);
    await letOthersRun();
  }
  return { html: pieces.join(''), isCut: false };
}

/** A name with its value, both HTML. */
export type Pair = Readonly<Record<'name' | 'value', string>>;

/** Most pairs of each kind, and most bytes of all of them, as markup. */
const MAX_PAIRS = 200;
export const PAIRS_BYTES = 20_000;

/** Shows names with their values, as many as fit into `maxBytes` as markup. */
export function pairs(entries: readonly (readonly [name: string, value: unknown])[], maxBytes = PAIRS_BYTES): Pair[] {
  let left = maxBytes;
  const shown: Pair[] = [];
  for (const [name, value] of entries.slice(0, MAX_PAIRS)) {
    const pair = { name: shownText(name, 300), value: shownValue(String(value), Math.max(300, left / 2)) };
    left -= Buffer.byteLength(pair.name) + Buffer.byteLength(pair.value) + 60;
    if (left < 0) break;
    shown.push(pair);
  }
  if (shown.length < entries.length) shown.push({ name: '…', value: `${String(entries.length - shown.length)} more` });
  return shown;
}

/** Longer values are folded; one that ends with `…` has been cut there already. */
const LONG_VALUE = 200;

/** Shows a value, a long one as its beginning, which unfolds to the rest. */
function shownValue(value: string, maxBytes: number): string {
  if (value.length <= LONG_VALUE + 1) return shownText(value, maxBytes);
  const start = shortened(value, LONG_VALUE);
  const rest = shownText(value.slice(start.length - 1), maxBytes);
  return `<details><summary>${shownText(start)}</summary>${rest}</details>`;
}

/** Short names of the bindings: `GET` for `HTTP GET`. */
export const BINDING_LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries(Binding.names).map(([binding, name]) => [binding, name.replace(/^HTTP /, '')]),
);

/** A binding's name, and its class in the style sheet if it is one of ours. */
export function bindingView(binding: string | undefined) {
  const name = binding === undefined ? undefined : BINDING_LABELS.get(binding);
  return { binding: name === undefined ? undefined : binding, bindingName: name ?? '–' };
}

/** A time for a person and, for the `time` element, in RFC 3339. */
export function timeView(milliseconds: number) {
  return { time: timeText(milliseconds), dateTime: new Date(milliseconds).toISOString() };
}

/** Writes a number, perhaps with what is counted: `1,000`, `1 event`, `1,000 events`. */
export function countText(count: number, what?: string): string {
  const number = count.toLocaleString('en');
  return what === undefined ? number : `${number} ${what}${count === 1 ? '' : 's'}`;
}

/** Writes the day of a time for a person, in UTC: `Sun, 22 Nov 2026`. */
export function dayText(milliseconds: number): string {
  return new Date(milliseconds).toUTCString().slice(0, 'Sun, 22 Nov 2026'.length);
}

export function hexText(bytes: Buffer): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
