import { JsonText } from './cloudevents/json-text';

/** An event on its way into the log, which adds its position. */
export interface NewEvent {
  /** CloudEvents `id`; with `source` it names the event. */
  readonly id: string;
  readonly source: string;
  /** The CloudEvents context attributes as the text of a JSON object, without `sequence` and without data. */
  readonly attributes: string;
  /** The payload as the text of one JSON member, `"data":…` or `"data_base64":…`. */
  readonly data: string | undefined;
  /** How the event arrived, as the text of a JSON object: for the operator's tools, never shown to readers of events. */
  readonly arrival: string;
  /** When it was recorded, in milliseconds since 1970-01-01T00:00Z. */
  readonly recordedAt: number;
  /** The sender's `Idempotency-Key`, after lines with the source, if that is not the service's own, and the scope, if there is one. */
  readonly idempotencyKey: string | undefined;
  /** The key of the delivery, after lines with its name, source and scope; a plain `webhook-id` has none of these lines. */
  readonly webhookId: string | undefined;
}

/** An event of the log. */
export interface StoredEvent extends NewEvent {
  /** Its place in the log: 1, 2, 3 and so on. Never given twice. */
  readonly position: number;
  /** The bytes of `data`, where a reader left it out because the event alone has more than it asked for. */
  readonly dataOmitted?: number;
}

/** Writes a position as callers, archives and files have it: as a `sequence`, 20 digits, so that text order is log order. */
export function sequenceOf(position: number): string {
  return String(position).padStart(20, '0');
}

/** Reads a position that a caller named in up to 20 digits; one beyond the largest, at 2^53 - 1, becomes that. */
export function positionIn(text: string): number | undefined {
  return /^\d{1,20}$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}

const MEMBER = /^\s*"(data|data_base64)"\s*:\s*/;
const BASE64 = /^"[A-Za-z\d+/]*={0,2}"\s*$/;

export const StoredEvent = {
  /** Says which part of an event cannot be read, if there is one: a disk may damage them. */
  problemOf(event: Pick<StoredEvent, 'attributes' | 'data' | 'arrival'>): string | undefined {
    const { attributes, data, arrival } = event;
    if (!isObject(attributes)) return 'its attributes cannot be read';
    if (data !== undefined) {
      const [start = '', name] = MEMBER.exec(data) ?? [];
      // A slice is no copy: that would take as long again.
      const value = data.slice(start.length);
      const isReadable = name === 'data' ? new JsonText(value).parsed() !== undefined : BASE64.test(value);
      if (name === undefined || !isReadable) return 'its data cannot be read';
    }
    return isObject(arrival) ? undefined : 'its arrival cannot be read';
  },

  /** The type of an event; undefined if the disk has damaged it. */
  typeOf({ attributes }: Pick<NewEvent, 'attributes'>): unknown {
    return (new JsonText(attributes).parsed()?.value as { readonly type?: unknown } | undefined)?.type;
  },

  /** Writes an event of the log in the JSON format of CloudEvents 1.0, with its position as the extension `sequence`. */
  json(this: void, event: Pick<StoredEvent, 'attributes' | 'position' | 'data'>): string {
    const data = event.data === undefined ? '' : `,${event.data}`;
    return `${event.attributes.slice(0, -1)},"sequence":"${sequenceOf(event.position)}"${data}}`;
  },
};

function isObject(json: string): boolean {
  return json.trimStart().startsWith('{') && new JsonText(json).parsed() !== undefined;
}

/** The characters that XML escapes in character data. */
const ESCAPED = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

const ADDED = new Uint8Array(256);
for (const [character, escape] of Object.entries(ESCAPED)) ADDED[character.charCodeAt(0)] = escape.length - 1;

/** Counts the bytes that a text takes as character data of an XML document in UTF-8, the measure of `GET_EVENTS_MAX_BYTES`. */
export function wireBytes(text: string): number {
  // Most texts have none of them, which takes a sixth of the time.
  if (!Object.keys(ESCAPED).some((character) => text.includes(character))) return Buffer.byteLength(text);
  const utf8 = Buffer.from(text);
  let size = utf8.length;
  for (let i = 0; i < utf8.length; i++) size += ADDED[utf8[i] ?? 0] ?? 0;
  return size;
}
