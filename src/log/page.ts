import { SEQUENCE_DIGITS } from '../events/position';
import { wireBytesIn, type NewEvent } from '../events/stored-event';
import type { EventQuery } from './event-log';

/** The size of an event on a page, as `wireBytes` counts. */
export interface EventSize {
  /** The attributes and the position. */
  readonly headBytes: number;
  /** The payload and its comma; 0 without a payload. */
  readonly dataBytes: number;
}

/** Bytes of the member for the position: `,"sequence":"…"`. */
const SEQUENCE_MEMBER_BYTES = ',"sequence":""'.length + SEQUENCE_DIGITS;

/** Maximum bytes of events that a scan returns, unless a single event has more. */
export const SCAN_BYTES = 8 * 1024 * 1024;

/** Measures an event. */
export function sizeOf({ attributes, data }: Pick<NewEvent, 'attributes' | 'data'>): EventSize {
  return sizeOfUtf8(Buffer.from(attributes), data === undefined ? null : Buffer.from(data));
}

/** As {@link sizeOf}, of texts in UTF-8. */
export function sizeOfUtf8(attributes: Uint8Array, data: Uint8Array | null): EventSize {
  return {
    headBytes: wireBytesIn(attributes) + SEQUENCE_MEMBER_BYTES,
    dataBytes: data === null ? 0 : wireBytesIn(data) + 1,
  };
}

/** Fills one page of events as `EventLog.read` promises: every engine asks it, event by event, what still fits. */
export class Page {
  readonly #query: EventQuery;
  #room: number;
  #events = 0;

  constructor(query: EventQuery) {
    this.#query = query;
    this.#room = query.maxBytes;
  }

  /** Says how the next event fits: whole, without its data, or not at all because the page is full. Counts what fits. */
  take({ headBytes, dataBytes }: EventSize): 'whole' | 'without data' | 'full' {
    const { id, position, limit, maxBytes, referenceBytes } = this.#query;
    if (this.#events === limit) return 'full';
    const wanted = (id !== undefined || position !== undefined) && this.#events === 0;
    const whole = headBytes + dataBytes + 1;
    const oversized = !wanted && whole > maxBytes;
    const bytes = oversized ? headBytes + referenceBytes + 1 : whole;
    if (!wanted && bytes > this.#room) return 'full';
    this.#room -= bytes;
    this.#events++;
    return oversized ? 'without data' : 'whole';
  }
}
