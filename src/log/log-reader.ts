import type { StoredEvent } from '../events/stored-event';
import { Deferred } from '../util/promises';
import type { Start, EventQuery, LoggedEvent, SearchQuery, SearchResult } from './queries';
import { ReadableLog, type FollowStart, type OnLogChange } from './readable-log';

export * from './queries';

/** The size of a log. */
export interface LogStats {
  readonly events: number;
  /** Bytes of storage. */
  readonly bytes: number;
  /** The last position that was given; its event may be forgotten, or found to be a repetition. 0 at first. */
  readonly last: number;
}

/** The most events that are read at a time, and that a search finds at a time. */
const PAGE_EVENTS = 1000;
const FOUND = 100;

/** How long to wait for a commit before looking again without one, in milliseconds. */
const WAIT = 5000;

/** A log of this machine or of a server, to read. */
export abstract class LogReader extends ReadableLog {
  /** Longest text that can be searched for, in characters. */
  static readonly MAX_SEARCH_TEXT = 200;

  abstract override read(query: EventQuery): Promise<LoggedEvent[]>;

  /**
   * Searches for events in the order of their positions, and returns what a list shows of them. Each call works for half a second
   * or little more and says how far it came, so it may find nothing and still leave `more`. Recording an event waits for a few
   * milliseconds of it at most, or for as long as one large event takes.
   *
   * @throws {EventLogError} also where the text is longer than {@link LogReader.MAX_SEARCH_TEXT}.
   */
  abstract search(query: SearchQuery): Promise<SearchResult>;

  abstract override stats(): Promise<LogStats>;

  /**
   * Calls a listener with the position of the newest event: soon after the watch begins, and soon after commits in any process.
   * A read that begins after the call finds the events up to that position. For a log without events the position is 0, or that
   * of the last one that was forgotten. While the log cannot be read the listener is not called.
   *
   * @returns ends the watch, as closing the log does; the listener is not called afterwards.
   */
  abstract watch(listener: (newest: number) => void): () => void;

  /** @param most - the most events of a page. */
  override async *pages({ after, since }: Start, most = PAGE_EVENTS): AsyncGenerator<readonly StoredEvent[]> {
    const limit = Math.min(most, PAGE_EVENTS);
    let page = await this.scan({ after, since, limit });
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      yield page;
      page = await this.scan({ after: last.position, since, limit });
    }
  }

  override async *follow(
    start: FollowStart,
    stop: AbortSignal,
    changed: OnLogChange,
  ): AsyncGenerator<readonly StoredEvent[]> {
    let { after, event } = start;
    let hasReached = false;
    let news = new Deferred();
    const wake = (): void => {
      news.resolve();
    };
    const endWatch = this.watch(wake);
    // The watch keeps the process alive; a reader that never comes back must not.
    const timer = setInterval(wake, WAIT).unref();
    stop.addEventListener('abort', wake);
    try {
      while (!stop.aborted) {
        news = new Deferred();
        // The user asked for a start after the end of the log.
        const change = hasReached ? await this.changeAt(after, event) : undefined;
        if (change !== undefined) {
          after = changed(change, after, (await this.stats()).last);
          event = undefined;
        }
        hasReached ||= (await this.stats()).last >= after;
        for await (const page of this.pages({ after })) {
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

  override async *find(
    search: Omit<SearchQuery, 'limit'>,
    stop: AbortSignal,
    gone: (position: number) => void,
  ): AsyncGenerator<StoredEvent> {
    const end = (await this.stats()).last + 1;
    const before = search.before !== undefined && search.before < end ? search.before : end;
    let after = search.after ?? 0;
    for (let isLeft = true; isLeft;) {
      const { events, reached, more } = await this.search({ ...search, after, before, limit: FOUND });
      yield* this.#eventsAt(events.map(({ position }) => position).reverse(), gone);
      after = reached?.position ?? after;
      isLeft = more && !stop.aborted;
    }
  }

  /** Reads the events at some positions, which rise; neighbours are read together. */
  async *#eventsAt(positions: readonly number[], gone: (position: number) => void): AsyncGenerator<StoredEvent> {
    for (let next = 0; next < positions.length;) {
      const first = positions[next] ?? 0;
      let limit = 1;
      while (positions[next + limit] === first + limit) limit++;
      const read = await this.scan({ after: first - 1, limit });
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
}
