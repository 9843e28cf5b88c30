import type { StoredEvent } from '../events/stored-event';
import type { EventLog, SearchQuery } from './event-log';

/** Events that a search finds at a time. */
const FOUND = 100;

/** The first event from a position on, with everything that the log keeps of it. */
export async function firstFrom(log: EventLog, position: number): Promise<StoredEvent | undefined> {
  const [event] = await log.scan({ after: position > 0 ? position - 1 : 0, limit: 1 });
  return event;
}

/** The event at a position, if the log has it. */
export async function eventAt(log: EventLog, position: number): Promise<StoredEvent | undefined> {
  const found = await firstFrom(log, position);
  return found !== undefined && found.position === position ? found : undefined;
}

/**
 * Reads all events that a search finds, in log order, each once. Ends with the event that was the newest when it began, so that it
 * does not find what is recorded because its events are sent.
 *
 * @param stop - ends it after the step that is under way.
 * @param gone - called with the position of each event that was removed meanwhile.
 */
export async function* foundEvents(
  log: EventLog,
  search: Omit<SearchQuery, 'limit'>,
  stop: AbortSignal,
  gone: (position: number) => void,
): AsyncGenerator<StoredEvent> {
  const end = (await log.stats()).last + 1;
  const before = search.before !== undefined && search.before < end ? search.before : end;
  let after = search.after ?? 0;
  for (let isLeft = true; isLeft;) {
    const { events, reached, more } = await log.search({ ...search, after, before, limit: FOUND });
    yield* eventsAt(log, events.map(({ position }) => position).reverse(), gone);
    after = reached?.position ?? after;
    isLeft = more && !stop.aborted;
  }
}

/** Reads the events at some positions, which rise; neighbours are read together. */
async function* eventsAt(
  log: EventLog,
  positions: readonly number[],
  gone: (position: number) => void,
): AsyncGenerator<StoredEvent> {
  for (let next = 0; next < positions.length;) {
    const first = positions[next] ?? 0;
    let limit = 1;
    while (positions[next + limit] === first + limit) limit++;
    const read = await log.scan({ after: first - 1, limit });
    const events = new Map(read.map((event) => [event.position, event]));
    const last = read.at(-1)?.position;
    for (; next < positions.length; next++) {
      const position = positions[next] ?? 0;
      if (last !== undefined && position > last) break;
      const event = events.get(position);
      if (event === undefined) gone(position);
      else yield event;
    }
  }
}
