import type { NewEvent } from '../events/stored-event';
import type { EventQuery } from './queries';

/** The size of an event as `EventLog.read` counts it, in bytes. */
export interface EventSize {
  readonly attributesBytes: number;
  readonly dataBytes: number;
}

/** Maximum bytes of a page of whole events, unless a single one has more. */
export const PAGE_BYTES = 8 * 1024 * 1024;

export function sizeOf({ attributes, data = '' }: Pick<NewEvent, 'attributes' | 'data'>): EventSize {
  return { attributesBytes: Buffer.byteLength(attributes), dataBytes: Buffer.byteLength(data) };
}

/** Decides, event by event, what belongs to a page of `EventLog.read`. */
export class Page {
  readonly #query: EventQuery;
  readonly #isNamed: boolean;
  #bytes = 0;
  #events = 0;

  constructor(query: EventQuery) {
    this.#query = query;
    this.#isNamed = query.id !== undefined || query.position !== undefined;
  }

  /** Says how the next event belongs to the page: whole, without its data, or not at all because the page is full. */
  take({ attributesBytes, dataBytes }: EventSize): 'whole' | 'without data' | 'full' {
    const { limit, maxBytes } = this.#query;
    const whole = attributesBytes + dataBytes;
    const most = maxBytes ?? (this.#isNamed ? Infinity : PAGE_BYTES - whole);
    if (this.#events === limit || (this.#events > 0 && this.#bytes > most)) return 'full';
    const isWanted = maxBytes === undefined || (this.#isNamed && this.#events === 0);
    const isWhole = isWanted || whole <= maxBytes;
    this.#bytes += isWhole ? whole : attributesBytes;
    this.#events++;
    return isWhole ? 'whole' : 'without data';
  }
}
