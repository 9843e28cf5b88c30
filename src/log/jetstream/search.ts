import type { FoundEvent, SearchQuery, SearchResult } from '../event-log';
import { sequenceNumber } from '../page';
import { dataMemberOf, foundEvent } from '../search/found-event';
import { eventMatcher } from '../search/search-event';
import type { JetStreamReader, PlacedEvent } from './reader';

/** How long a step looks at messages, in milliseconds: some hundred small ones, few large ones. */
const STEP_TIME = 50;

/** Maximum messages that are asked for at a time: reading them takes this thread two milliseconds. */
const WINDOW_MESSAGES = 32;

/** Searches for events by reading them, few at a time: servers search for nothing but subjects. */
export class JetStreamSearch {
  readonly #reader: JetStreamReader;

  constructor(reader: JetStreamReader) {
    this.#reader = reader;
  }

  /**
   * Takes a step of a search.
   *
   * @param start - a position before every event that was recorded at `from` or later.
   */
  async search(query: SearchQuery, start: number, deadline: number): Promise<SearchResult> {
    const matches = eventMatcher(query);
    const events: FoundEvent[] = [];
    let reached: PlacedEvent | undefined;
    let more = false;
    const end = performance.now() + STEP_TIME;
    for await (const placed of this.#candidates(query, start, deadline)) {
      // Found only now, so that there is really more.
      more = reached !== undefined && (events.length === query.limit || performance.now() > end);
      if (more) break;
      reached = placed;
      if (matches(placed.event)) events.push(listed(placed));
    }
    return {
      events: query.after === undefined ? events : events.reverse(),
      reached: reached && placeOf(reached),
      more,
    };
  }

  /** The events to look at, in the direction of the search. */
  async *#candidates(query: SearchQuery, start: number, deadline: number): AsyncGenerator<PlacedEvent> {
    const { text, binding, type, from, to, limit } = query;
    const isFiltered = [text, binding, type, from, to].some((filter) => filter !== undefined);
    const most = isFiltered ? Infinity : limit + 1;
    const after = Math.max(start, query.after === undefined ? 0 : sequenceNumber(query.after));
    const before = query.before === undefined ? Infinity : sequenceNumber(query.before);
    const placed =
      query.after === undefined
        ? this.#reader.downwards(before, most, deadline, WINDOW_MESSAGES)
        : this.#reader.upwards(after, most, deadline, WINDOW_MESSAGES);
    for await (const one of placed) {
      if (one.sequence <= after || one.sequence >= before) return;
      yield one;
    }
  }
}

function listed({ sequence, event }: PlacedEvent): FoundEvent {
  const { data, ...others } = event;
  return foundEvent({ ...others, sequence, data: data === undefined ? undefined : dataMemberOf(data) });
}

function placeOf({ sequence, event }: PlacedEvent): SearchResult['reached'] {
  return { position: BigInt(sequence), recordedAt: event.recordedAt };
}
