import { breathe, LARGE } from '../turns';

/** What a caller said, in one of the three forms that a CloudEvents JSON event can carry. */
export type Payload = { readonly mediaType: string | undefined } & (
  | {
      /** Valid JSON text, kept as it is: numbers keep their digits. */
      readonly json: string;
    }
  | { readonly text: string }
  | { readonly bytes: Buffer }
);

/**
 * A large text that takes so many times the bytes as a JSON string that it takes in base64 consists of escapes: control
 * characters, or nothing but quotes or line breaks.
 */
const TOO_LONG = 1.4;

/**
 * Writes a payload as the member of a CloudEvent in the JSON format; between parts of a large one other calls go on. A large
 * text that would consist of escapes is written as the bytes that it has in UTF-8.
 */
export async function dataMember(payload: Payload): Promise<string> {
  if ('bytes' in payload) return bytesMember(payload.bytes);
  if ('json' in payload) return `"data":${(await written(payload.json, xmlSafe)) ?? ''}`;
  const { text } = payload;
  const string = await written(text, stringContent, text.isWellFormed() ? TOO_LONG * base64Length(text) : Infinity);
  return string === undefined ? bytesMember(Buffer.from(text)) : `"data":"${string}"`;
}

async function bytesMember(bytes: Buffer): Promise<string> {
  const member = `"data_base64":"${bytes.toString('base64')}"`;
  if (bytes.length > LARGE) await breathe();
  return member;
}

/** Writes a text, a large one part by part. Undefined: it is a large one and becomes longer than so many bytes. */
async function written(
  text: string,
  write: (part: string) => string,
  maxBytes = Infinity,
): Promise<string | undefined> {
  if (text.length <= LARGE) return write(text);
  const parts: string[] = [];
  let bytes = 0;
  for (let start = 0; start < text.length; start += LARGE) {
    const part = write(text.slice(start, start + LARGE));
    parts.push(part);
    bytes += Buffer.byteLength(part);
    if (bytes > maxBytes) return undefined;
    await breathe();
  }
  return parts.join('');
}

function base64Length(text: string): number {
  return 4 * Math.ceil(Buffer.byteLength(text) / 3);
}

function stringContent(text: string): string {
  return xmlSafe(JSON.stringify(text).slice(1, -1));
}

/**
 * Makes JSON text survive XML 1.0 and stay on one line: what XML forbids (U+FFFE, U+FFFF, lone surrogates) can only
 * stand inside a string and becomes a JSON escape; line breaks and tabs can only stand between tokens and become spaces.
 * Both halves of a character that is cut in two become escapes, which means the same.
 */
function xmlSafe(json: string): string {
  let safe = json;
  // Not replaceAll, which takes five times as long where there are many.
  for (const character of ['\uFFFE', '\uFFFF']) safe = safe.split(character).join(escaped(character));
  for (const space of ['\t', '\r', '\n']) safe = safe.split(space).join(' ');
  return safe.isWellFormed() ? safe : safe.replace(/\p{Surrogate}/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}
