import { JsonText } from './cloudevents/json-text';
import type { StoredEvent } from './stored-event';

/** The payload of a call, in one of the three forms that a CloudEvents JSON event can carry. */
export type Payload = {
  readonly mediaType: string | undefined;
  /** Set if the content type does not say what the body was: JSON under the type of a form, or nothing but a query. */
  readonly sentAs?: 'json' | 'query' | undefined;
} & (
  | {
      /** Valid JSON text, kept as it is: numbers keep their digits. */
      readonly json: string;
      readonly value?: unknown;
    }
  | { readonly text: string }
  | { readonly bytes: Buffer }
);

/** A long text is kept as base64 if its JSON string, mostly escapes, would take this many times the bytes of the base64. */
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
  if (text.length <= LONG_TEXT || !text.isWellFormed()) return member;
  const base64Length = 4 * Math.ceil(Buffer.byteLength(text) / 3);
  const hasGrown = Buffer.byteLength(member) - '"data":""'.length > MAX_GROWTH * base64Length;
  return hasGrown ? bytesMember(Buffer.from(text)) : member;
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

/** The payload of an event, as the log keeps it: it may be large, and is decoded only by the methods. */
export class EventData {
  /** `json`: a JSON value other than a string; `text`: a string; `bytes`: what is neither. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** The JSON text, the string as JSON writes it without its quotes, or the base64. */
  readonly encoded: string;

  constructor(member: string) {
    const [start = '', name] = /^\s*"([^"]*)"\s*:\s*/.exec(member) ?? [];
    const value = member.slice(start.length).trimEnd();
    const isString = value.startsWith('"');
    this.encoded = isString ? value.slice(1, -1) : value;
    if (!isString) this.kind = 'json';
    else this.kind = name === 'data_base64' ? 'bytes' : 'text';
  }

  static of({ data }: Pick<StoredEvent, 'data'>): EventData | undefined {
    return data === undefined ? undefined : new EventData(data);
  }

  /** In bytes. */
  get size(): number {
    return Buffer.byteLength(...this.#content());
  }

  /** JSON and text in UTF-8. */
  bytes(): Buffer {
    return Buffer.from(...this.#content());
  }

  #content(): [text: string, encoding: 'base64' | 'utf8'] {
    const { kind, encoded } = this;
    if (kind === 'bytes') return [encoded, 'base64'];
    return [kind === 'text' && encoded.includes('\\') ? (JSON.parse(`"${encoded}"`) as string) : encoded, 'utf8'];
  }

  /** The first characters of JSON or of a text; a surrogate pair that the cut divides is dropped. */
  textStart(maxLength: number): string {
    const whole = (text: string) => (this.encoded.length > maxLength ? text.replace(/[\uD800-\uDBFF]$/, '') : text);
    if (this.kind === 'json') return whole(this.encoded.slice(0, maxLength));
    // The cut may divide an escape, which leaves invalid JSON.
    for (let length = maxLength; ; length--) {
      try {
        return whole(JSON.parse(`"${this.encoded.slice(0, length)}"`) as string);
      } catch (error) {
        if (length < maxLength - '\\uXXXX'.length) throw error;
      }
    }
  }

  /** The values in their order, each with its field, if the payload is what the service makes of a form, with files or without. */
  form(): FormEntries | undefined {
    const members = this.kind === 'json' ? new JsonText(this.encoded).members() : undefined;
    if (members === undefined) return undefined;
    const fields = [...members].map(([name, value]) => [name, [JSON.parse(value) as FormValue].flat()] as const);
    if (!fields.every(([, values]) => values.length > 0 && values.every(isFormValue))) return undefined;
    return fields.flatMap(([name, values]) => values.map((value) => [name, value] as const));
  }
}

/** A text; or a file, or a text that could not be decoded. */
type FormValue = string | { readonly filename?: string; readonly contentType?: string; readonly base64: string };

type FormEntries = readonly (readonly [name: string, value: FormValue])[];

function isFormValue(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string';
  const { base64, filename = '', contentType = '' } = value as Readonly<Record<string, unknown>>;
  return [base64, filename, contentType].every((text) => typeof text === 'string');
}
