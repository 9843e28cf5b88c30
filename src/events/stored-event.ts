import { sequenceOf } from './position';

/** An event on its way into the log, which adds its position. */
export interface NewEvent {
  /** CloudEvents `id`; with `source` it names the event. */
  readonly id: string;
  /** CloudEvents `source`. */
  readonly source: string;
  /** The CloudEvents context attributes as the text of a JSON object, without `sequence` and without data. */
  readonly attributes: string;
  /** The payload as the text of one JSON member, `"data":…` or `"data_base64":…`. */
  readonly data: string | undefined;
  /** How the event arrived, as the text of a JSON object: for the operator's tools, never shown to readers of events. */
  readonly arrival: string;
  /** When it was recorded, in milliseconds since 1970-01-01T00:00Z. */
  readonly recordedAt: number;
  /** The sender's `Idempotency-Key`; preceded by the source and a line feed if that is not the service's own. */
  readonly idempotencyKey: string | undefined;
  /**
   * The sender's `webhook-id` (Standard Webhooks), or the delivery id of a known sender; before it what else the key is about, each
   * with a line feed.
   */
  readonly webhookId: string | undefined;
}

/** An event with everything that the log keeps of it. */
export interface StoredEvent extends NewEvent {
  /** Its place in the log: 1, 2, 3 and so on. Never given twice. */
  readonly position: number;
}

/** What comes before the value of the data. */
const MEMBER = /^\s*"(data|data_base64)"\s*:\s*/;
const BASE64 = /^"[A-Za-z\d+/]*={0,2}"\s*$/;

/** Says which part of an event cannot be read, if there is one: a disk may damage them. */
export function problemOf({
  attributes,
  data,
  arrival,
}: Pick<StoredEvent, 'attributes' | 'data' | 'arrival'>): string | undefined {
  if (!isJson(attributes, '{')) return 'its attributes cannot be read';
  if (data !== undefined) {
    const [start = '', name] = MEMBER.exec(data) ?? [];
    // A slice is no copy: that would take as long again.
    const value = data.slice(start.length);
    if (name === undefined || !(name === 'data' ? isJson(value) : BASE64.test(value))) return 'its data cannot be read';
  }
  return isJson(arrival, '{') ? undefined : 'its arrival cannot be read';
}

function isJson(text: string, start = ''): boolean {
  try {
    JSON.parse(text);
    return text.startsWith(start);
  } catch {
    return false;
  }
}

/**
 * Writes an event of the log in the JSON format of CloudEvents 1.0, with its position as the extension `sequence`.
 */
export function eventJson({
  attributes,
  position,
  data,
}: Pick<StoredEvent, 'attributes' | 'position' | 'data'>): string {
  return `${attributes.slice(0, -1)},"sequence":"${sequenceOf(position)}"${data === undefined ? '' : `,${data}`}}`;
}

/** The characters that XML escapes in character data, and how many more bytes than themselves they take then. */
const ESCAPED: readonly (readonly [character: string, added: number])[] = [
  ['&', '&amp;'.length - 1],
  ['<', '&lt;'.length - 1],
  ['>', '&gt;'.length - 1],
  ['\r', '&#xD;'.length - 1],
];

/** The same, for each byte of a text in UTF-8. */
const ADDED = new Uint8Array(256);
for (const [character, added] of ESCAPED) ADDED[character.charCodeAt(0)] = added;

/**
 * Counts the bytes that a text takes as character data of an XML document in UTF-8, with `&`, `<`, `>` and carriage returns
 * escaped: the measure in which `GET_EVENTS_MAX_BYTES` is promised.
 */
export function wireBytes(text: string): number {
  // Most texts have none of them, which takes a sixth of the time.
  if (!ESCAPED.some(([character]) => text.includes(character))) return Buffer.byteLength(text);
  const utf8 = Buffer.from(text);
  let size = utf8.length;
  for (let i = 0; i < utf8.length; i++) size += ADDED[utf8[i] ?? 0] ?? 0;
  return size;
}
