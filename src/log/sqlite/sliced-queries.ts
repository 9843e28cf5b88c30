import { setTimeout as delay } from 'node:timers/promises';
import type { Rate, RatesQuery } from '../event-log';
import type { DatabaseThread } from './database-thread';
import type { RatesProgress } from './rates';

/** Pause between two slices, in milliseconds. */
const REST = 1;

/** Counts by time in slices, so that whatever else the database thread is asked waits for one of them at most. */
export class SlicedQueries {
  readonly #thread: DatabaseThread;

  constructor(thread: DatabaseThread) {
    this.#thread = thread;
  }

  /** As `EventLog.rates`. */
  async rates(query: RatesQuery): Promise<Rate[]> {
    let progress: RatesProgress = { query, edges: [], rates: [] };
    while (progress.rates.length < query.spans) {
      progress = await this.#thread.ask('rates', progress);
      await delay(REST);
    }
    return [...progress.rates];
  }
}
