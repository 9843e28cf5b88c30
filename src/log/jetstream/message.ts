import type { NewEvent } from '../../events/stored-event';

/** An event as a message holds it, with the name of the attempt that stored it, by which that attempt knows it again. */
export interface EventMessage {
  readonly attempt: string;
  readonly event: NewEvent;
}

/** Marks the messages of this program, and tells the version of their format. */
const VERSION = 1;

/** The first line of a message. The texts of the event follow as they are, told apart by their lengths. */
interface Head {
  readonly webhookEvent: typeof VERSION;
  readonly attempt: string;
  readonly id: string;
  readonly source: string;
  readonly recordedAt: number;
  readonly idempotencyKey?: string | undefined;
  readonly webhookId?: string | undefined;
  /** UTF-16 code units of the attributes and of the arrival; the payload is the rest. */
  readonly attributes: number;
  readonly arrival: number;
  readonly data: boolean;
}

/** Writes an event as the body of a message: a line of JSON, then attributes, arrival and payload as they are. */
export function encodeEvent({ attempt, event }: EventMessage): Buffer {
  const { id, source, recordedAt, idempotencyKey, webhookId, attributes, arrival, data } = event;
  const head: Head = {
    webhookEvent: VERSION,
    attempt,
    id,
    source,
    recordedAt,
    idempotencyKey,
    webhookId,
    attributes: attributes.length,
    arrival: arrival.length,
    data: data !== undefined,
  };
  return Buffer.from(`${JSON.stringify(head)}\n${attributes}${arrival}${data ?? ''}`);
}

/**
 * Reads what {@link encodeEvent} writes. Undefined: another program wrote the message.
 *
 * @throws a later version of this program wrote it.
 */
export function decodeEvent(body: Uint8Array): EventMessage | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const end = text.indexOf('\n');
  const head = parseHead(text.slice(0, Math.max(end, 0)));
  if (head === undefined) return undefined;
  const arrivalStart = end + 1 + head.attributes;
  const dataStart = arrivalStart + head.arrival;
  return {
    attempt: head.attempt,
    event: {
      id: head.id,
      source: head.source,
      attributes: text.slice(end + 1, arrivalStart),
      data: head.data ? text.slice(dataStart) : undefined,
      arrival: text.slice(arrivalStart, dataStart),
      recordedAt: head.recordedAt,
      idempotencyKey: head.idempotencyKey,
      webhookId: head.webhookId,
    },
  };
}

/** Reads an event as {@link decodeEvent} does, from a subject on which no other program writes. */
export function requireEvent(body: Uint8Array): EventMessage {
  const message = decodeEvent(body);
  if (message === undefined) throw new Error('another program stored a message where only this one may');
  return message;
}

function parseHead(line: string): Head | undefined {
  if (!line.startsWith('{"webhookEvent":')) return undefined;
  const head = parsedOrUndefined(line) as Head | undefined;
  if (head !== undefined && head.webhookEvent !== VERSION) {
    throw new Error(
      `the stream holds an event in format ${String(head.webhookEvent)}, and this program reads format ` +
        `${String(VERSION)}: a later version of the program stored it; use that version`,
    );
  }
  return head;
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where an event is, as the stream of keys tells it after the claim of a key. */
export interface Reference {
  readonly id: string;
  readonly sequence: number;
}

const REFERENCE_START = '{"reference":';

export function encodeReference({ id, sequence }: Reference): Buffer {
  return Buffer.from(JSON.stringify({ reference: { id, sequence } }));
}

/** Reads what {@link encodeReference} writes. Undefined: the message is a claim. */
export function decodeReference(body: Uint8Array): Reference | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (text.toString('utf8', 0, REFERENCE_START.length) !== REFERENCE_START) return undefined;
  return (JSON.parse(text.toString()) as { reference: Reference }).reference;
}
