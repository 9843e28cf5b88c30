import type { NewEvent } from '../events/stored-event';
import type { EventQuery } from './log-reader';

/** The size of an event as `EventLog.read` counts it, in bytes. */
export interface EventSize {
  readonly attributesBytes: number;
  readonly dataBytes: number;
}

/** Maximum bytes of events that a scan returns, unless a single event has more. */
export const SCAN_BYTES = 8 * 1024 * 1024;

/** Measures an event. */
export function sizeOf({ attributes, data = '' }: Pick<NewEvent, 'attributes' | 'data'>): EventSize {
  return { attributesBytes: Buffer.byteLength(attributes), dataBytes: Buffer.byteLength(data) };
}

/** Fills one page of events as `EventLog.read` promises: every engine asks it, event by event, what belongs to it. */
export class Page {
  readonly #query: EventQuery;
  #bytes = 0;
  #events = 0;

  constructor(query: EventQuery) {
    this.#query = query;
  }

  /** Says how the next event belongs to the page: whole, without its data, or not at all because the page is full. */
  take({ attributesBytes, dataBytes }: EventSize): 'whole' | 'without data' | 'full' {
    const { id, position, limit, maxBytes = Infinity } = this.#query;
    if (this.#events === limit || this.#bytes > maxBytes) return 'full';
    const isWanted = (id !== undefined || position !== undefined) && this.#events === 0;
    const dataOmitted = !isWanted && attributesBytes + dataBytes > maxBytes;
    this.#bytes += attributesBytes + (dataOmitted ? 0 : dataBytes);
    this.#events++;
    return dataOmitted ? 'without data' : 'whole';
  }
}
