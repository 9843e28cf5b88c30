import { LARGE_MESSAGE, letOthersRun } from '../lang/let-others-run';

/** What came with a call, in one of the three forms that a CloudEvents JSON event can carry. */
export type Payload = { readonly mediaType: string | undefined } & (
  | {
      /** Valid JSON text, kept as it is: numbers keep their digits. */
      readonly json: string;
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
export async function dataMember(payload: Payload): Promise<string> {
  if ('bytes' in payload) return bytesMember(payload.bytes);
  if ('json' in payload) return `"data":${(await inParts(payload.json, xmlSafe)) ?? ''}`;
  const { text } = payload;
  const maxBytes = text.isWellFormed() ? MAX_GROWTH * base64Length(text) : Infinity;
  const string = await inParts(text, stringContent, maxBytes);
  return string === undefined ? bytesMember(Buffer.from(text)) : `"data":"${string}"`;
}

async function bytesMember(bytes: Buffer): Promise<string> {
  const member = `"data_base64":"${bytes.toString('base64')}"`;
  if (bytes.length > LARGE_MESSAGE) await letOthersRun();
  return member;
}

/** Rewrites a text, a large one part by part. Undefined: a large one becomes longer than `maxBytes`. */
async function inParts(
  text: string,
  rewrite: (part: string) => string,
  maxBytes = Infinity,
): Promise<string | undefined> {
  if (text.length <= LARGE_MESSAGE) return rewrite(text);
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

function stringContent(text: string): string {
  return xmlSafe(JSON.stringify(text).slice(1, -1));
}

/** What {@link xmlSafe} replaces, but for lone surrogates. */
const UNSAFE = /[\t\r\n\uFFFE\uFFFF]/;

/**
 * Makes JSON text survive XML 1.0 and stay on one line. What XML forbids (U+FFFE, U+FFFF, lone surrogates) can only
 * stand inside a string and becomes a JSON escape; line breaks and tabs can only stand between tokens and become spaces.
 * Both halves of a character that is cut in two become escapes, which means the same.
 */
export function xmlSafe(json: string): string {
  let safe = json;
  if (UNSAFE.test(json)) {
    // Not replaceAll, which takes five times as long where there are many.
    for (const character of ['\uFFFE', '\uFFFF']) safe = safe.split(character).join(escaped(character));
    for (const space of ['\t', '\r', '\n']) safe = safe.split(space).join(' ');
  }
  return safe.isWellFormed() ? safe : safe.replace(/\p{Surrogate}/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}
