import type { StoredEvent } from '../events/stored-event';
import type { LogQueries, SearchQuery, ServiceLog } from './event-log';

/** Events that a search finds at a time. */
const FOUND = 100;

/** The first event from a position on, with everything that the log keeps of it. */
export async function firstFrom(log: LogQueries, position: bigint): Promise<StoredEvent | undefined> {
  const [event] = await log.scan({ after: position > 0n ? position - 1n : 0n, limit: 1 });
  return event;
}

/** The event at a position, if the log has it. */
export async function eventAt(log: LogQueries, position: bigint): Promise<StoredEvent | undefined> {
  const found = await firstFrom(log, position);
  return found !== undefined && BigInt(found.sequence) === position ? found : undefined;
}

/**
 * Reads all events that a search finds, in log order, each once. Ends with the event that was the newest when it began, so that it
 * does not find what is recorded because its events are sent.
 *
 * @param stop - ends it after the step that is under way.
 * @param gone - called with the position of each event that was removed meanwhile.
 */
export async function* foundEvents(
  log: LogQueries & Pick<ServiceLog, 'stats'>,
  search: Omit<SearchQuery, 'limit'>,
  stop: AbortSignal,
  gone: (position: bigint) => void,
): AsyncGenerator<StoredEvent> {
  const end = (await log.stats()).last + 1n;
  const before = search.before !== undefined && search.before < end ? search.before : end;
  let after = search.after ?? 0n;
  for (let isLeft = true; isLeft;) {
    const { events, reached, more } = await log.search({ ...search, after, before, limit: FOUND });
    yield* eventsAt(log, events.map(({ sequence }) => BigInt(sequence)).reverse(), gone);
    after = reached?.position ?? after;
    isLeft = more && !stop.aborted;
  }
}

/** Reads the events at some positions, which rise; neighbours are read together. */
async function* eventsAt(
  log: LogQueries,
  positions: readonly bigint[],
  gone: (position: bigint) => void,
): AsyncGenerator<StoredEvent> {
  for (let next = 0; next < positions.length;) {
    const first = positions[next] ?? 0n;
    let limit = 1;
    while (positions[next + limit] === first + BigInt(limit)) limit++;
    const read = await log.scan({ after: first - 1n, limit });
    const events = new Map(read.map((event) => [BigInt(event.sequence), event]));
    const last = read.length === 0 ? undefined : BigInt(read.at(-1)?.sequence ?? 0);
    for (; next < positions.length; next++) {
      const position = positions[next] ?? 0n;
      if (last !== undefined && position > last) break;
      const event = events.get(position);
      if (event === undefined) gone(position);
      else yield event;
    }
  }
}
