import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../event-log';
import { sequenceNumber } from '../page';
import type { DatabaseThread } from './database-thread';

/** Pause after each step that took the write lock, in milliseconds: a writer that waits for it looks again and again. */
const REST = 20;

/** Most events that are deleted in one step. */
const MOST_DELETED = 64;

/** How often, and after how many milliseconds, the write-ahead log is tried to be emptied while readers need it. */
const TRIES = 300;
const TRY_PAUSE = 100;

/** Work on the whole file while others read and record events. */
export class SqliteUpkeep {
  readonly #thread: DatabaseThread;

  constructor(thread: DatabaseThread) {
    this.#thread = thread;
  }

  /** As `EventLog.forget`. */
  async forget(positions: readonly bigint[], progress: Progress): Promise<bigint[]> {
    const forgotten: bigint[] = [];
    for (let done = 0; done < positions.length; done += MOST_DELETED) {
      const some = positions.slice(done, done + MOST_DELETED);
      const deleted = await this.#thread.ask('forget', some.map(sequenceNumber));
      forgotten.push(...some.filter((_, i) => deleted[i]));
      progress(done, positions.length);
      await delay(REST);
    }
    // What is deleted is overwritten, but SQLite leaves copies of rows that it moved in the unused room of pages.
    await this.#thread.ask('vacuum');
    progress(positions.length, positions.length);
    await this.#emptyWal();
    return forgotten;
  }

  /** As `EventLog.compact`. */
  async compact(progress: Progress): Promise<number> {
    if ((await this.#thread.ask('freeBytes')) === undefined) return this.#rebuild();
    let given = 0;
    for (let step = await this.#thread.ask('giveBack'); step > 0; step = await this.#thread.ask('giveBack')) {
      given += step;
      progress(given, given + ((await this.#thread.ask('freeBytes')) ?? 0));
      await delay(REST);
    }
    await this.#emptyWal();
    return given;
  }

  async #rebuild(): Promise<number> {
    const before = (await this.#thread.ask('stats')).bytes;
    await this.#thread.ask('vacuum');
    await this.#emptyWal();
    return before - (await this.#thread.ask('stats')).bytes;
  }

  async #emptyWal(): Promise<void> {
    for (let tries = 0; !(await this.#thread.ask('emptyWal')); tries++) {
      if (tries === TRIES) {
        throw new Error(
          'another program, a backup perhaps, has been reading for too long. Run this again when it has ended',
        );
      }
      await delay(TRY_PAUSE);
    }
  }
}
