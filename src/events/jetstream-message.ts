import type { NewEvent } from './event-log';

/** An event with the name of the attempt to record it, by which whoever recorded it knows it again. */
export interface Attempt {
  readonly name: string;
  readonly event: NewEvent;
}

/** What stands in front of an event's texts, which are kept as they are: their lengths tell them apart. */
interface Head {
  readonly version: 1;
  readonly attempt: string;
  readonly id: string;
  readonly source: string;
  readonly recordedAt: number;
  readonly idempotencyKey?: string | undefined;
  readonly webhookId?: string | undefined;
  /** UTF-16 code units of the attributes and of the arrival; the payload is what follows. */
  readonly attributes: number;
  readonly arrival: number;
  readonly data: boolean;
}

/** Writes an event as the body of a message: a line of JSON, then attributes, arrival and payload as they are. */
export function encodeEvent({ name, event }: Attempt): Buffer {
  const { id, source, recordedAt, idempotencyKey, webhookId, attributes, arrival, data } = event;
  const head: Head = {
    version: 1,
    attempt: name,
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
 * Reads what {@link encodeEvent} writes.
 *
 * @throws the message is no event of this program, or of a later version of it.
 */
export function decodeEvent(body: Uint8Array): Attempt {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const end = text.indexOf('\n');
  const head = headOf(text.slice(0, Math.max(end, 0)));
  const arrivalStart = end + 1 + head.attributes;
  const dataStart = arrivalStart + head.arrival;
  return {
    name: head.attempt,
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

function headOf(line: string): Head {
  try {
    const head = JSON.parse(line) as Head;
    if (head.version === 1) return head;
  } catch {
    // Told below.
  }
  throw new Error('the stream holds a message that is no event of this program and version');
}
