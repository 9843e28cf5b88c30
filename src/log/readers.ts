import type { StoredEvent } from '../events/stored-event';
import { deferred } from '../util/promises';
import type { EventLog, SearchQuery } from './event-log';

/** The place in a log from which its events are read. */
export interface Start {
  /** Events after this position. */
  readonly after: number;
  /** Events recorded at this time or later, in milliseconds since 1970-01-01T00:00Z. */
  readonly since?: number | undefined;
  /** The event that was seen at the position, by which {@link followedPages} finds out that it has another log. */
  readonly event?: Pick<StoredEvent, 'id' | 'recordedAt'> | undefined;
}

/** What those who only read need of a log, which may be that of a service elsewhere. */
export interface ReadableLog extends Pick<EventLog, 'scan' | 'read' | 'search' | 'stats' | 'watch'> {
  /**
   * Reads as {@link pagesOf} does, and then events as they are recorded, until the signal, or until the way to the log is
   * interrupted. Without it {@link followedPages} watches the log.
   */
  stream?(after: number, stop: AbortSignal): AsyncGenerator<readonly StoredEvent[]>;
}

/** The most events that are read at a time. */
const PAGE_EVENTS = 1000;

/** How long to wait for a commit before looking again without one, in milliseconds. */
const WAIT = 60_000;

/** Reads all events from a start on, in pages that are never empty, and have `most` events at most. */
export async function* pagesOf(
  log: Pick<EventLog, 'scan'>,
  { after, since }: Start,
  most = PAGE_EVENTS,
): AsyncGenerator<readonly StoredEvent[]> {
  const limit = Math.min(most, PAGE_EVENTS);
  let page = await log.scan({ after, since, limit });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = await log.scan({ after: last.position, since, limit });
  }
}

/** How a log differs from the one in which a position was seen: it was restored or replaced. */
export type LogChange = 'ends before' | 'another event';

/**
 * Reads as {@link pagesOf} does, and then events as they are recorded, until the signal. Before each look it compares the event
 * at the position, and whether the log still reaches it.
 *
 * @param changed - called if the log is another one; returns the position after which to go on.
 */
export async function* followedPages(
  log: ReadableLog,
  start: Omit<Start, 'since'>,
  stop: AbortSignal,
  changed: (change: LogChange, position: number, newest: number) => number,
): AsyncGenerator<readonly StoredEvent[]> {
  let { after, event } = start;
  let hasReached = false;
  let news = deferred();
  const wake = (): void => {
    news.resolve();
  };
  const endWatch = log.watch(wake);
  // The watch keeps the process alive; a reader that never comes back must not.
  const timer = setInterval(wake, WAIT).unref();
  stop.addEventListener('abort', wake);
  try {
    while (!stop.aborted) {
      news = deferred();
      // The user asked for a start after the end of the log.
      const change = hasReached ? await changeAt(log, after, event) : undefined;
      if (change !== undefined) {
        after = changed(change, after, (await log.stats()).last);
        event = undefined;
      }
      hasReached ||= (await log.stats()).last >= after;
      for await (const page of log.stream?.(after, stop) ?? pagesOf(log, { after })) {
        yield page;
        const last = page.at(-1);
        event = last;
        after = last?.position ?? after;
        hasReached = true;
      }
      if (!stop.aborted && log.stream === undefined) await news.promise;
    }
  } finally {
    endWatch();
    clearInterval(timer);
    stop.removeEventListener('abort', wake);
  }
}

/** How a log differs from the one in which an event was seen at a position. Returns undefined if it may be the same. */
export async function changeAt(
  log: ReadableLog,
  position: number,
  event: Start['event'],
): Promise<LogChange | undefined> {
  const found = await firstFrom(log, position);
  if (found === undefined) return (await log.stats()).last < position ? 'ends before' : undefined;
  if (event === undefined || found.position !== position) return undefined;
  return found.id === event.id && found.recordedAt === event.recordedAt ? undefined : 'another event';
}

/** Events that a search finds at a time. */
const FOUND = 100;

/** The first event from a position on, with everything that the log keeps of it. */
export async function firstFrom(log: Pick<EventLog, 'scan'>, position: number): Promise<StoredEvent | undefined> {
  const [event] = await log.scan({ after: position > 0 ? position - 1 : 0, limit: 1 });
  return event;
}

/** The event at a position, if the log has it. */
export async function eventAt(log: Pick<EventLog, 'scan'>, position: number): Promise<StoredEvent | undefined> {
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
  log: Pick<EventLog, 'scan' | 'search' | 'stats'>,
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
  log: Pick<EventLog, 'scan'>,
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
