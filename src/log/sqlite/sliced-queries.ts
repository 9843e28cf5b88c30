import { setTimeout as delay } from 'node:timers/promises';
import type { FoundEvent, Rate, RatesQuery, SearchQuery, SearchResult } from '../event-log';
import type { DatabaseThread } from './database-thread';
import type { RatesProgress } from './rates';
import type { Range } from './search';

/** How long a search goes on, in milliseconds; then it says how far it came. */
const SEARCH_TIME = 500;

/** Pause after a slice while events are being recorded, in milliseconds. */
const REST = 15;

/**
 * Questions that take the database thread long, asked in slices, one at a time: whatever else is asked meanwhile waits for one
 * of them at most, however many questions there are.
 */
export class SlicedQueries {
  readonly #thread: DatabaseThread;
  readonly #isRecording: () => boolean;
  /** Resolves when the next slice may be asked for. */
  #free: Promise<unknown> = Promise.resolve();
  readonly #running = new Set<Promise<unknown>>();

  /** @param isRecording - whether events are being recorded. */
  constructor(thread: DatabaseThread, isRecording: () => boolean) {
    this.#thread = thread;
    this.#isRecording = isRecording;
  }

  /** As `EventLog.search`. */
  search(query: SearchQuery): Promise<SearchResult> {
    return this.#run(async () => {
      const deadline = performance.now() + SEARCH_TIME;
      const events: FoundEvent[] = [];
      let reached: SearchResult['reached'];
      let range: Range | undefined;
      let more: boolean;
      do {
        const limit = query.limit - events.length;
        const slice = await this.#slice(() => this.#thread.ask('search', { query, range, limit }));
        ({ range, more } = slice);
        reached = slice.reached ?? reached;
        events.push(...slice.events);
      } while (more && events.length < query.limit && performance.now() < deadline);
      return { events: query.after === undefined ? events : events.reverse(), reached, more };
    });
  }

  /** As `EventLog.rates`. */
  rates(query: RatesQuery): Promise<Rate[]> {
    return this.#run(async () => {
      let progress: RatesProgress = { query, edges: [], rates: [] };
      do progress = await this.#slice(() => this.#thread.ask('rates', progress));
      while (progress.rates.length < query.spans);
      return [...progress.rates];
    });
  }

  /** Resolves when no query is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #run<T>(query: () => Promise<T>): Promise<T> {
    const result = query();
    this.#running.add(result);
    try {
      return await result;
    } finally {
      this.#running.delete(result);
    }
  }

  /** Asks for a slice when its turn has come. */
  #slice<T>(ask: () => Promise<T>): Promise<T> {
    const slice = this.#free.then(ask);
    const rest = () => (this.#isRecording() ? delay(REST) : undefined);
    this.#free = slice.then(rest, () => undefined);
    return slice;
  }
}
