import type { StoredEvent } from '../events/stored-event';
import { Deferred } from '../util/promises';
import type { EventQuery, SearchQuery, SearchResult, Start } from './queries';

/** A log whose events can be read in their order: that of this service, or of a service elsewhere. */
export interface ReadableLog {
  /** Reads events, in log order, damaged ones among them; at least one if there is one. The cost does not depend on the size of the log. */
  scan(query: Omit<EventQuery, 'before' | 'type'>): Promise<StoredEvent[]>;

  /** The last position that was given, whose event may be forgotten or a repetition; 0 at first. */
  newest(): Promise<number>;

  /** Reads all events from a start on, in pages that are never empty. */
  pages(start: Start): AsyncIterable<readonly StoredEvent[]>;

  /**
   * Reads as {@link pages} does, and then events as they are recorded, until the signal. Before each look it compares the event at the
   * position, and whether the log still reaches it.
   */
  follow(start: FollowStart, stop: AbortSignal, changed: OnLogChange): AsyncIterable<readonly StoredEvent[]>;

  /**
   * Reads all events that a search finds, in log order, each once, up to the one that was the newest when it began.
   *
   * @param stop - ends it after the step that is under way.
   */
  find(search: Omit<SearchQuery, 'limit'>, stop: AbortSignal): AsyncIterable<StoredEvent>;
}

/** How a log differs from the one in which a position was seen, because it was restored or replaced. */
export type LogChange = 'ends before' | 'another event';

type SeenEvent = Pick<StoredEvent, 'id' | 'recordedAt'> | undefined;

/** Where to follow a log from, and the event that was seen there. */
export interface FollowStart {
  readonly after: number;
  readonly event?: SeenEvent;
}

/** Called if a log that is followed is another one; returns the position after which to go on. */
export type OnLogChange = (change: LogChange, position: number, newest: number) => number;

export const LogChange = {
  /** Compares the log with the one in which an event was seen at a position. Resolves to undefined if it may be the same. */
  async at(log: Scanned, position: number, event: SeenEvent): Promise<LogChange | undefined> {
    const [found] = await log.scan({ after: Math.max(0, position - 1), limit: 1 });
    if (found === undefined) return (await log.newest()) < position ? 'ends before' : undefined;
    if (found.position !== position || event === undefined) return undefined;
    return found.id === event.id && found.recordedAt === event.recordedAt ? undefined : 'another event';
  },
};

type Scanned = Pick<ReadableLog, 'scan' | 'newest'>;

/** Maximum events that are read at a time, and that a search finds at a time. */
const PAGE_EVENTS = 1000;
const FOUND = 100;

/** How long to wait for a commit before looking again without one, in milliseconds. */
const WAIT = 5000;

/** @param next - reads the events after a position; it ends when it is time to look whether the log is still the same. */
async function* followed(
  log: Scanned,
  { after, event }: FollowStart,
  stop: AbortSignal,
  changed: OnLogChange,
  next: (after: number) => AsyncIterable<readonly StoredEvent[]>,
): AsyncGenerator<readonly StoredEvent[]> {
  // The user may ask for a start after the end of the log.
  let hasReached = false;
  while (!stop.aborted) {
    const change = hasReached ? await LogChange.at(log, after, event) : undefined;
    if (change !== undefined) {
      after = changed(change, after, await log.newest());
      event = undefined;
    }
    hasReached ||= (await log.newest()) >= after;
    for await (const page of next(after)) {
      yield page;
      const last = page.at(-1);
      event = last;
      after = last?.position ?? after;
    }
  }
}

export const ReadableLog = { followed };

/** A log that this process has open. */
export abstract class LocalLog implements ReadableLog {
  abstract scan(query: EventQuery): Promise<StoredEvent[]>;
  abstract newest(): Promise<number>;
  abstract search(query: SearchQuery): Promise<SearchResult>;
  abstract watch(listener: (newest: number) => void): () => void;

  async *pages({ after, since }: Start): AsyncGenerator<readonly StoredEvent[]> {
    for (let position = after; ;) {
      const page = await this.scan({ after: position, since, limit: PAGE_EVENTS });
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      position = last.position;
    }
  }

  async *follow(start: FollowStart, stop: AbortSignal, changed: OnLogChange): AsyncGenerator<readonly StoredEvent[]> {
    let news = new Deferred();
    const wake = () => news.resolve();
    const endWatch = this.watch(wake);
    // The watch keeps the process alive; the timer of an abandoned reader must not.
    const timer = setInterval(wake, WAIT).unref();
    stop.addEventListener('abort', wake);
    const pages = (after: number) => this.pages({ after });
    try {
      yield* followed(this, start, stop, changed, async function* (after) {
        news = new Deferred();
        yield* pages(after);
        if (!stop.aborted) await news.promise;
      });
    } finally {
      endWatch();
      clearInterval(timer);
      stop.removeEventListener('abort', wake);
    }
  }

  async *find(search: Omit<SearchQuery, 'limit'>, stop: AbortSignal): AsyncGenerator<StoredEvent> {
    const before = Math.min(search.before ?? Infinity, (await this.newest()) + 1);
    let after = search.after ?? 0;
    for (let isLeft = true; isLeft;) {
      const { events, reached, more } = await this.search({ ...search, after, before, limit: FOUND });
      const positions = events.map(({ position }) => position).reverse();
      let read: readonly StoredEvent[] = [];
      for (const [i, position] of positions.entries()) {
        if (position > (read.at(-1)?.position ?? 0)) {
          // Neighbours are read together.
          let limit = 1;
          while (positions[i + limit] === position + limit) limit++;
          read = await this.scan({ after: position - 1, limit });
        }
        const event = read.find((one) => one.position === position);
        // It may have been removed meanwhile.
        if (event !== undefined) yield event;
      }
      after = reached?.position ?? after;
      isLeft = more && !stop.aborted;
    }
  }
}
