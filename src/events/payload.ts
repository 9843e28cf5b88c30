/** Of a call over HTTP whose content type does not say what its body was: JSON under the type of a form, or nothing but a query. */
export type SentAs = 'json' | 'query';

/** The payload of a call, in one of the three forms that a CloudEvents JSON event can carry. */
export type Payload = {
  readonly mediaType: string | undefined;
  readonly sentAs?: SentAs | undefined;
} & (
  | {
      /** Valid JSON text, kept as it is: numbers keep their digits. */
      readonly json: string;
      /** The parsed value, if it has been parsed. */
      readonly value?: unknown;
    }
  | { readonly text: string }
  | { readonly bytes: Buffer }
);

/** A long text is kept as base64 if a JSON string, which then consists of escapes, would take this many times the bytes. */
const MAX_GROWTH = 1.4;
const LONG_TEXT = 256 * 1024;

/** A payload as an event keeps it: with the data member of a CloudEvent in the JSON format, `"data":…` or `"data_base64":…`. */
export interface EventPayload extends Pick<Payload, 'mediaType' | 'sentAs'> {
  readonly data: string;
}

export function eventPayload(payload: Payload): EventPayload {
  const { mediaType, sentAs } = payload;
  return { mediaType, data: dataMember(payload), sentAs };
}

/** Writes a payload as the data member of a CloudEvent in the JSON format. */
export function dataMember(payload: Payload): string {
  if ('bytes' in payload) return bytesMember(payload.bytes);
  if ('json' in payload) return `"data":${xmlSafe(payload.json)}`;
  const { text } = payload;
  // `JSON.stringify` escapes line breaks, tabs and lone surrogates itself.
  const member = `"data":${withoutNoncharacters(JSON.stringify(text))}`;
  const mayBeBytes = text.length > LONG_TEXT && text.isWellFormed();
  const base64Length = () => 4 * Math.ceil(Buffer.byteLength(text) / 3);
  if (!mayBeBytes || Buffer.byteLength(member) - '"data":""'.length <= MAX_GROWTH * base64Length()) return member;
  return bytesMember(Buffer.from(text));
}

function bytesMember(bytes: Buffer): string {
  return `"data_base64":"${bytes.toString('base64')}"`;
}

/** The two characters, besides lone surrogates, that XML forbids and JSON allows. */
const NONCHARACTERS = ['\uFFFE', '\uFFFF'] as const;
const NONCHARACTER = new RegExp(`[${NONCHARACTERS.join('')}]`);
const SPACE = /[\t\r\n]/;

/** Makes JSON text survive XML 1.0 and stay on one line: what XML forbids becomes a JSON escape, white space between tokens spaces. */
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
