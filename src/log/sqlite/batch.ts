import type { NewEvent } from '../../events/stored-event';
import { LARGE_MESSAGE } from '../../util/promises';
import { PROTOCOL } from '../engine';
import { checksumOf, TEXTS } from './checksum';

type TextProperty = (typeof TEXTS)[number];

/**
 * A batch is its version, the number of its events, a head for each of them, and their texts in UTF-8. A head is the time and,
 * for each text, its offset in the batch and its length, in bytes. Numbers are little-endian.
 */
const COUNT_OFFSET = 4;
const PREFIX_BYTES = 8;
const TIME_BYTES = 8;
const PLACE_BYTES = 8;
const LENGTH_OFFSET = 4;
const HEAD_BYTES = TIME_BYTES + TEXTS.length * PLACE_BYTES;

/** Most bytes of a UTF-16 code unit in UTF-8. */
const MOST_BYTES = 3;

/** Where a text starts that an event does not have. */
const NOWHERE = 0;

/** Where the place of a text stands in the head of its event. */
const PLACES = Object.fromEntries(TEXTS.map((name, i) => [name, TIME_BYTES + i * PLACE_BYTES])) as Readonly<
  Record<TextProperty, number>
>;

/**
 * Packs events, in their order, into bytes with a buffer of their own: it can be transferred to another thread, and the bytes
 * sent to another process. A lone surrogate becomes U+FFFD.
 */
export function packEvents(events: readonly NewEvent[]): Buffer<ArrayBuffer> {
  let joined = '';
  for (const event of events) for (const text of textsOf(event)) if (text !== undefined) joined += text;
  // In ASCII every character takes one byte, and all texts are written at once. Others are written one by one: halves of a character
  // that meet where two texts are joined are not that character. To measure long texts takes as long as to write them: they get the
  // room that they need at most, and the system gives no memory for what is not written.
  const isShort = joined.length <= events.length * LARGE_MESSAGE;
  const isAscii = isShort && Buffer.byteLength(joined) === joined.length;
  const textsStart = headOf(events.length);
  const size = isAscii ? joined.length : joined.length * MOST_BYTES;
  // Not cleared, as it is written from the start; not a part of the pool, which cannot be transferred.
  const bytes = Buffer.allocUnsafeSlow(textsStart + size);
  const heads = new DataView(bytes.buffer);
  heads.setUint32(0, PROTOCOL, true);
  heads.setUint32(COUNT_OFFSET, events.length, true);
  if (isAscii) bytes.write(joined, textsStart, 'latin1');
  let start = textsStart;
  let place = headOf(0);
  for (const event of events) {
    heads.setFloat64(place, event.recordedAt, true);
    place += TIME_BYTES;
    for (const text of textsOf(event)) {
      const length = text === undefined ? 0 : isAscii ? text.length : bytes.write(text, start);
      heads.setUint32(place, text === undefined ? NOWHERE : start, true);
      heads.setUint32(place + LENGTH_OFFSET, length, true);
      place += PLACE_BYTES;
      start += length;
    }
  }
  return bytes.subarray(0, start);
}

/** An event of a batch, with its texts in UTF-8, which are parts of the batch, and its checksum. */
export type PackedEvent = Readonly<Record<TextProperty, Uint8Array | null>> &
  Pick<NewEvent, 'recordedAt'> & { readonly checksum: number };

/**
 * Finds the events in what {@link packEvents} has packed.
 *
 * @throws a process that was started before an upgrade has packed them, and the thread was started after it.
 */
export function unpackEvents({ buffer, byteOffset, byteLength }: Uint8Array): PackedEvent[] {
  const heads = new DataView(buffer, byteOffset, byteLength);
  if (heads.getUint32(0, true) !== PROTOCOL) {
    throw new Error('the events were packed by another build of the service, which must be restarted');
  }
  return Array.from({ length: heads.getUint32(COUNT_OFFSET, true) }, (_, i) => {
    const head = headOf(i);
    const text = (name: TextProperty): Uint8Array | null => {
      const place = head + PLACES[name];
      const start = heads.getUint32(place, true);
      return start === NOWHERE
        ? null
        : new Uint8Array(buffer, byteOffset + start, heads.getUint32(place + LENGTH_OFFSET, true));
    };
    const recordedAt = heads.getFloat64(head, true);
    const id = text('id');
    const source = text('source');
    const attributes = text('attributes');
    const arrival = text('arrival');
    const data = text('data');
    const idempotencyKey = text('idempotencyKey');
    const webhookId = text('webhookId');
    const texts = [id, source, attributes, arrival, data, idempotencyKey, webhookId];
    const length = texts.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);
    const joined = new Uint8Array(buffer, id?.byteOffset, length);
    const checksum = checksumOf(recordedAt, texts, [joined]);
    // Written out: what is spread into an object outlives several collections.
    return {
      recordedAt,
      id,
      source,
      attributes,
      arrival,
      data,
      idempotencyKey,
      webhookId,
      checksum,
    };
  });
}

/** In the order of {@link TEXTS}; written out, which takes a third of the time. */
function textsOf(event: NewEvent): readonly (string | undefined)[] {
  const { id, source, attributes, arrival, data, idempotencyKey, webhookId } = event;
  return [id, source, attributes, arrival, data, idempotencyKey, webhookId];
}

/** Where the head of an event stands in a batch. */
function headOf(i: number): number {
  return PREFIX_BYTES + i * HEAD_BYTES;
}

/** Most bytes that are held until the write-ahead log has been written back. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Room that is kept for the next batches: about as much as is recorded until the write-ahead log is written back. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * The batches of events that only the write-ahead log has, in case it is lost. They are copied: the originals would outlive the
 * young generation, and 50 MB of them would pile up.
 */
export class HeldBatches {
  #bytes = Buffer.alloc(0);
  readonly #ends: number[] = [];
  #isIncomplete = false;

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  add(batches: readonly Uint8Array[]): void {
    for (const batch of batches) {
      const start = this.#ends.at(-1) ?? 0;
      const end = start + batch.length;
      if (end > MAX_HELD_BYTES) {
        this.miss();
        return;
      }
      if (end > this.#bytes.length) {
        const bytes = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * end, KEPT_BYTES), MAX_HELD_BYTES));
        this.#bytes.copy(bytes, 0, 0, start);
        this.#bytes = bytes;
      }
      this.#bytes.set(batch, start);
      this.#ends.push(end);
    }
  }

  /** Notes that the write-ahead log has events that are not held. */
  miss(): void {
    this.#isIncomplete = true;
  }

  /** For a write-ahead log that has been written back. */
  clear(): void {
    this.#ends.length = 0;
    this.#isIncomplete = false;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }

  all(): Uint8Array[] {
    return this.#ends.map((end, i) => this.#bytes.subarray(this.#ends[i - 1] ?? 0, end));
  }
}
