import type { StoredEvent } from '../events/stored-event';

/** The place in a log from which its events are read. Times are in milliseconds since 1970-01-01T00:00Z. */
export interface Start {
  /** Only events after this position. */
  readonly after: number;
  /** Only events recorded at this time or later. */
  readonly since?: number | undefined;
}

/** Which events {@link EventLog.read} returns. */
export interface EventQuery {
  /** Only events with this id, each of another source. */
  readonly id?: string | undefined;
  /** Only the event at this position. */
  readonly position?: number | undefined;
  /** Only events after this position, oldest first; without it, the newest. */
  readonly after?: number | undefined;
  /** Only events before this position. */
  readonly before?: number | undefined;
  /** Only events of this type, or, if it ends in `.*`, of one that begins with all before the `*`; not with `id` or `position`. */
  readonly type?: string | undefined;
  /** As {@link Start.since}; with `after` alone. */
  readonly since?: number | undefined;
  /** Maximum number of events; at least 1. */
  readonly limit: number;
  /**
   * A page ends once attributes and data exceed this; an event that exceeds it alone comes without its data. Undefined: whole events of at
   * most {@link PAGE_BYTES} together, or a single one.
   */
  readonly maxBytes?: number;
}

export interface LogStats {
  readonly events: number;
  /** Bytes of storage. */
  readonly bytes: number;
}

/** Maximum characters of an event's data that a search returns. */
export const DATA_START = 120;

/** Which events {@link EventLog.search} looks for, and where. Those with all that is given are found. */
export interface SearchQuery extends Pick<EventQuery, 'before' | 'limit' | 'type'> {
  /** Only events after this position, from there to newer ones; without it the search goes from the newest to older ones. */
  readonly after?: number | undefined;
  /**
   * A text in the JSON text of attributes, data or arrival, names of members included. ASCII letters match in either case, and the text
   * also where JSON escapes it. `data_base64` is not searched.
   */
  readonly text?: string | undefined;
  readonly binding?: string | undefined;
  /** The sender's address. */
  readonly sender?: string | undefined;
  /** The short name of a known sender. */
  readonly fromSender?: string | undefined;
  /** From when to before when an event was recorded, in milliseconds since 1970-01-01T00:00Z. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export const SearchQuery = {
  /** Longest text that can be searched for, in characters. */
  maxText: 200,

  /** Whether a text may be a sender's address: that of a machine, or what a proxy writes in its place (RFC 7239, section 6). */
  mayBeAddress: (text: string): boolean => /[.:]|^_|^unknown$/.test(text),
};

/** An event in a list. A text with more than some 200 characters is cut and ends with `…`. */
export interface FoundEvent extends Pick<StoredEvent, 'id' | 'position' | 'recordedAt'> {
  readonly binding: string | undefined;
  readonly type: string | undefined;
  readonly remoteAddress: string | undefined;
  /** The short name of the known sender. */
  readonly sender: string | undefined;
  readonly data: DataSummary | undefined;
  /** Set if a text was searched for. */
  readonly match?: Match | undefined;
}

/** The first place with a text that was searched for: in the data, else the attributes, else the arrival. */
export interface Match {
  readonly in: 'data' | 'attributes' | 'arrival';
  /** Up to 24 characters before the text and 96 after it, with `…` if there are more. Data that is a string is shown as that string. */
  readonly before: string;
  readonly text: string;
  readonly after: string;
}

/** An event's data in a list. */
export interface DataSummary {
  /** `text`: a string; `bytes`: kept as base64; `json`: any other JSON value. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** In bytes: of the string in UTF-8, of the JSON text, or of what the base64 stands for. */
  readonly bytes: number;
  /** The first {@link DATA_START} characters of the string, the JSON text or the base64. */
  readonly start: string;
  /** Whether there is more data than `start`. */
  readonly cut: boolean;
}

export interface SearchResult {
  /** Those with the highest positions first, whichever way the search went. */
  readonly events: readonly FoundEvent[];
  /** The last event that was looked at, if any. */
  readonly reached: { readonly position: number; readonly recordedAt: number } | undefined;
  /** Whether events are left to look at, `before` (or `after`) the position reached. */
  readonly more: boolean;
}

/** Maximum bytes of a page of whole events, unless a single one has more. */
export const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * Returns a function that is called for one event after the other and says how it belongs to a page of `EventLog.read`: whole, without
 * its data, or not at all because the page is full. The last event may pass `maxBytes`, but not `wholeBytes`, which applies without it.
 */
export function pageFiller({ maxBytes }: Pick<EventQuery, 'maxBytes'>, wholeBytes = PAGE_BYTES) {
  let bytes = 0;
  return (attributesBytes: number, dataBytes: number): 'whole' | 'without data' | 'full' => {
    const whole = attributesBytes + dataBytes;
    if (bytes > 0 && bytes > (maxBytes ?? wholeBytes - whole)) return 'full';
    const isWhole = maxBytes === undefined || whole <= maxBytes;
    bytes += isWhole ? whole : attributesBytes;
    return isWhole ? 'whole' : 'without data';
  };
}

/** The first items that have no more than a size together, but one at least. */
export function fitting<Item>(items: readonly Item[], most: number, sizeOf: (item: Item) => number): readonly Item[] {
  let total = 0;
  const end = items.findIndex((item, i) => {
    total += sizeOf(item);
    return total > most && i > 0;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** An event as a database has it. */
export type EventRow = { readonly [Name in keyof StoredEvent]: StoredEvent[Name] | null };

export function eventOf({ data, idempotencyKey, webhookId, dataOmitted, ...others }: EventRow): StoredEvent {
  const event = {
    ...(others as StoredEvent),
    data: data ?? undefined,
    idempotencyKey: idempotencyKey ?? undefined,
    webhookId: webhookId ?? undefined,
  };
  return typeof dataOmitted === 'number' ? { ...event, dataOmitted } : event;
}

export type Events = AsyncIterable<StoredEvent> | Iterable<StoredEvent>;

/** Fills a page, in log order, with events that come from the end at which a query begins. */
export async function pageFrom(events: Events, query: EventQuery): Promise<StoredEvent[]> {
  const { after, since = -Infinity, limit } = query;
  const add = pageFiller(query);
  const logged: StoredEvent[] = [];
  for await (const event of events) {
    const { attributes, data = '', recordedAt } = event;
    if (recordedAt < since) continue;
    const bytes = Buffer.byteLength(data);
    const added = add(Buffer.byteLength(attributes), bytes);
    if (added === 'full') break;
    logged.push(added === 'whole' ? event : { ...event, data: undefined, dataOmitted: bytes });
    // To find another one may take long.
    if (logged.length === limit) break;
  }
  return after === undefined ? logged.reverse() : logged;
}
