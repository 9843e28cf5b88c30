import type { EventQuery } from './event-log';
import { SEQUENCE_DIGITS } from './position';
import { wireBytes } from './wire-bytes';

/** What an event takes on a page, in the measure of `wireBytes`. */
export interface EventSize {
  readonly id: string;
  /** The attributes and the position. */
  readonly headBytes: number;
  /** The payload and its comma; 0: none. */
  readonly dataBytes: number;
}

/** Bytes of the member that the position becomes: `,"sequence":"…"`. */
const SEQUENCE_MEMBER_BYTES = ',"sequence":""'.length + SEQUENCE_DIGITS;

/** A UTF-16 code unit takes at most this many bytes when percent-encoded: three bytes of three characters. */
const PERCENT_ENCODED_UNIT_BYTES = 9;

/** Most bytes of events that a scan returns, unless a single event has more. */
export const SCAN_BYTES = 8 * 1024 * 1024;

export function sizeOf({
  id,
  attributes,
  data,
}: {
  id: string;
  attributes: string;
  data: string | undefined;
}): EventSize {
  return {
    id,
    headBytes: wireBytes(attributes) + SEQUENCE_MEMBER_BYTES,
    dataBytes: data === undefined ? 0 : wireBytes(data) + 1,
  };
}

/** Fills one page of events as `EventLog.read` promises it; every engine asks it, event by event, what still fits. */
export class Page {
  readonly #query: EventQuery;
  #room: number;
  #events = 0;

  constructor(query: EventQuery) {
    this.#query = query;
    this.#room = query.maxBytes;
  }

  /** Makes room for the next event: whole, without its data, or not at all; then the page is full. */
  take({ id, headBytes, dataBytes }: EventSize): 'whole' | 'without data' | 'full' {
    const { id: wantedId, limit, maxBytes, referenceBytes } = this.#query;
    if (this.#events === limit) return 'full';
    const wanted = wantedId !== undefined && this.#events === 0;
    const whole = headBytes + dataBytes + 1;
    const oversized = !wanted && whole > maxBytes;
    const bytes = oversized ? headBytes + referenceBytes + PERCENT_ENCODED_UNIT_BYTES * id.length + 1 : whole;
    if (!wanted && bytes > this.#room) return 'full';
    this.#room -= bytes;
    this.#events++;
    return oversized ? 'without data' : 'whole';
  }
}
