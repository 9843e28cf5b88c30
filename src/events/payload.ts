import { inParts, type Steps } from '../util/promises';

/** The payload of a call, in one of the three forms that a CloudEvents JSON event can carry. */
export type Payload = { readonly mediaType: string | undefined } & (
  | {
      /** Valid JSON text, kept as it is: numbers keep their digits. */
      readonly json: string;
      /** The parsed value, if it has been parsed. */
      readonly value?: unknown;
    }
  | { readonly text: string }
  | { readonly bytes: Buffer }
);

/**
 * A long text is kept as base64 if a JSON string would take this many times the bytes: then it consists of escapes, for control
 * characters or for nothing but quotes or line breaks.
 */
const MAX_GROWTH = 1.4;
const LONG_TEXT = 256 * 1024;

/** How many characters are written at a time. */
const PART_LENGTH = 16 * 1024;

/** How many bytes are written as base64 at a time; a multiple of 3. */
const BASE64_PART = 48 * 1024;

/**
 * Writes a payload as the data member of a CloudEvent in the JSON format, `"data":…` or `"data_base64":…`. Other calls run
 * between the parts of a large one. A long text that would consist of escapes is written as its bytes in UTF-8.
 */
export function dataMember(payload: Payload): string | Promise<string> {
  if ('bytes' in payload) return inParts(payload.bytes.length, bytesMember(payload.bytes));
  if ('json' in payload) return inParts(payload.json.length, jsonMember(payload.json));
  return inParts(payload.text.length, textMember(payload.text));
}

function* bytesMember(bytes: Buffer): Steps<string> {
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += BASE64_PART) {
    pieces.push(bytes.toString('base64', start, start + BASE64_PART));
    yield;
  }
  return joined('"data_base64":"', pieces, '"');
}

function* jsonMember(json: string): Steps<string> {
  const pieces = yield* rewritten(json, xmlSafe);
  yield;
  return joined('"data":', pieces ?? [], '');
}

function* textMember(text: string): Steps<string> {
  const mayGrow = text.length <= LONG_TEXT || !text.isWellFormed();
  const maxBytes = mayGrow ? Infinity : MAX_GROWTH * base64Length(text);
  const pieces = yield* rewritten(text, (part) => jsonString(part).slice(1, -1), maxBytes);
  yield;
  return pieces === undefined ? yield* bytesMember(Buffer.from(text)) : joined('"data":"', pieces, '"');
}

/** Rewrites a text slice by slice. Undefined if it becomes longer than `maxBytes`. */
function* rewritten(
  text: string,
  rewrite: (slice: string) => string,
  maxBytes = Infinity,
): Steps<string[] | undefined> {
  if (text.length <= PART_LENGTH) return [rewrite(text)];
  const pieces: string[] = [];
  let bytes = 0;
  for (const slice of slicesOf(text)) {
    const piece = rewrite(slice);
    pieces.push(piece);
    if (maxBytes !== Infinity) bytes += Buffer.byteLength(piece);
    if (bytes > maxBytes) return undefined;
    yield;
  }
  return pieces;
}

/** Cuts a text into slices of some 16,000 characters. Both halves of a character stay together. */
export function* slicesOf(text: string): Generator<string> {
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + PART_LENGTH;
    if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end++;
    yield text.slice(start, end);
  }
}

/** A long text is copied once: what `+` makes of it would be copied again wherever it is read. */
function joined(before: string, pieces: readonly string[], after: string): string {
  return pieces.length > 1 ? [before, ...pieces, after].join('') : `${before}${pieces[0] ?? ''}${after}`;
}

function base64Length(text: string): number {
  return 4 * Math.ceil(Buffer.byteLength(text) / 3);
}

/** A text as a JSON string that is {@link xmlSafe}: `JSON.stringify` escapes line breaks, tabs and lone surrogates itself. */
function jsonString(text: string): string {
  return withoutNoncharacters(JSON.stringify(text));
}

/** The two characters that XML forbids and JSON allows. */
const NONCHARACTERS = ['\uFFFE', '\uFFFF'] as const;
const NONCHARACTER = new RegExp(`[${NONCHARACTERS.join('')}]`);
const SPACE = /[\t\r\n]/;

/**
 * Makes JSON text survive XML 1.0 and stay on one line. What XML forbids (U+FFFE, U+FFFF, lone surrogates) can only
 * stand inside a string and becomes a JSON escape; line breaks and tabs can only stand between tokens and become spaces.
 */
export function xmlSafe(json: string): string {
  let safe = withoutNoncharacters(json);
  if (SPACE.test(safe)) for (const space of ['\t', '\r', '\n']) safe = safe.split(space).join(' ');
  return safe.isWellFormed() ? safe : safe.replace(/\p{Surrogate}/gu, escaped);
}

function withoutNoncharacters(json: string): string {
  if (!NONCHARACTER.test(json)) return json;
  // Not replaceAll, which takes five times as long if there are many.
  return NONCHARACTERS.reduce((safe, character) => safe.split(character).join(escaped(character)), json);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}
