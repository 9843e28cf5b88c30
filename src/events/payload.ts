import { LARGE_MESSAGE, letOthersRun } from '../util/promises';

/** What came with a call, in one of the three forms that a CloudEvents JSON event can carry. */
export type Payload = { readonly mediaType: string | undefined } & (
  | {
      /** Valid JSON text, kept as it is: numbers keep their digits. */
      readonly json: string;
      /** What it stands for, if it has been parsed. */
      readonly value?: unknown;
    }
  | { readonly text: string }
  | { readonly bytes: Buffer }
);

/**
 * A large text is kept as base64 where a JSON string would take this many times the bytes: then it consists of escapes,
 * for control characters or for nothing but quotes or line breaks.
 */
const MAX_GROWTH = 1.4;

/**
 * Writes a payload as the data member of a CloudEvent in the JSON format, `"data":…` or `"data_base64":…`. Other calls run
 * between the parts of a large one. A large text that would consist of escapes is written as its bytes in UTF-8.
 */
export function dataMember(payload: Payload): string | Promise<string> {
  if ('bytes' in payload) return bytesMember(payload.bytes);
  if ('json' in payload)
    return isLarge(payload.json) ? largeJsonMember(payload.json) : `"data":${xmlSafe(payload.json)}`;
  return isLarge(payload.text) ? largeTextMember(payload.text) : `"data":${jsonString(payload.text)}`;
}

function isLarge(content: string | Buffer): boolean {
  return content.length > LARGE_MESSAGE;
}

function bytesMember(bytes: Buffer): string | Promise<string> {
  const member = `"data_base64":"${bytes.toString('base64')}"`;
  return isLarge(bytes) ? letOthersRun().then(() => member) : member;
}

async function largeJsonMember(json: string): Promise<string> {
  return `"data":${(await inParts(json, xmlSafe)) ?? ''}`;
}

async function largeTextMember(text: string): Promise<string> {
  const maxBytes = text.isWellFormed() ? MAX_GROWTH * base64Length(text) : Infinity;
  const string = await inParts(text, (part) => jsonString(part).slice(1, -1), maxBytes);
  return string === undefined ? bytesMember(Buffer.from(text)) : `"data":"${string}"`;
}

/** Rewrites a large text part by part. Returns undefined if it becomes longer than `maxBytes`. */
async function inParts(
  text: string,
  rewrite: (part: string) => string,
  maxBytes = Infinity,
): Promise<string | undefined> {
  const parts: string[] = [];
  let bytes = 0;
  for (let start = 0; start < text.length; start += LARGE_MESSAGE) {
    const part = rewrite(text.slice(start, start + LARGE_MESSAGE));
    parts.push(part);
    bytes += Buffer.byteLength(part);
    if (bytes > maxBytes) return undefined;
    await letOthersRun();
  }
  return parts.join('');
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
 * Both halves of a character that is cut in two become escapes, which means the same.
 */
export function xmlSafe(json: string): string {
  let safe = withoutNoncharacters(json);
  if (SPACE.test(safe)) for (const space of ['\t', '\r', '\n']) safe = safe.split(space).join(' ');
  return safe.isWellFormed() ? safe : safe.replace(/\p{Surrogate}/gu, escaped);
}

function withoutNoncharacters(json: string): string {
  if (!NONCHARACTER.test(json)) return json;
  // Not replaceAll, which takes five times as long where there are many.
  return NONCHARACTERS.reduce((safe, character) => safe.split(character).join(escaped(character)), json);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}
