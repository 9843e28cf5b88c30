import type { StoredEvent } from '../events/stored-event';
import { deferred } from '../util/promises';
import type { EventLog } from './event-log';
import { firstFrom } from './stored-events';

/** The place in a log from which its events are read. */
export interface Start {
  /** Events after this position. */
  readonly after: number;
  /** Events recorded at this time or later, in milliseconds since 1970-01-01T00:00Z. */
  readonly since?: number | undefined;
  /** The event that was seen at the position, by which {@link followedPages} finds out that it has another log. */
  readonly event?: Pick<StoredEvent, 'id' | 'recordedAt'> | undefined;
}

/** The most events that are read at a time. */
const PAGE_EVENTS = 1000;

/** How long to wait for a commit before looking again without one, in milliseconds. */
const WAIT = 60_000;

/** Reads all events from a start on, in pages that are never empty. */
export async function* pagesOf(log: EventLog, { after, since }: Start): AsyncGenerator<readonly StoredEvent[]> {
  let page = await log.scan({ after, since, limit: PAGE_EVENTS });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = await log.scan({ after: last.position, since, limit: PAGE_EVENTS });
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
  log: EventLog,
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
      for await (const page of pagesOf(log, { after })) {
        yield page;
        const last = page.at(-1);
        event = last;
        after = last?.position ?? after;
        hasReached = true;
      }
      if (!stop.aborted) await news.promise;
    }
  } finally {
    endWatch();
    clearInterval(timer);
    stop.removeEventListener('abort', wake);
  }
}

/** How a log differs from the one in which an event was seen at a position. Returns undefined if it may be the same. */
export async function changeAt(log: EventLog, position: number, event: Start['event']): Promise<LogChange | undefined> {
  const found = await firstFrom(log, position);
  if (found === undefined) return (await log.stats()).last < position ? 'ends before' : undefined;
  if (event === undefined || found.position !== position) return undefined;
  return found.id === event.id && found.recordedAt === event.recordedAt ? undefined : 'another event';
}
