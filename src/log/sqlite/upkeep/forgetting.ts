import type { Statement } from '../binding';
import type { SqliteConnection } from '../connection/connection';
import { MinuteCounts } from '../minutes';

/** Deletes events, with their keys and their counts, in the transaction of its caller. */
export class Deletion {
  readonly #delete: Statement;
  readonly #minutes: MinuteCounts;

  constructor(connection: SqliteConnection) {
    this.#delete = connection.prepare(
      `DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?))
       RETURNING sequence, recorded_at AS "recordedAt"`,
    );
    this.#minutes = new MinuteCounts(connection);
  }

  /** Returns the positions that had an event. */
  delete(positions: readonly number[]): Set<number> {
    const rows = this.#delete.all(JSON.stringify(positions)) as { sequence: number; recordedAt: number }[];
    this.#minutes.subtract(rows.map(({ recordedAt }) => recordedAt));
    return new Set(rows.map(({ sequence }) => sequence));
  }
}

/** Bounds between which the work of a step adapts to the time that it should take. */
export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Pages to give back in a step. */
const PAGES: Bounds = { from: 4, to: 256 };

/** Bytes of a page, as SQLite makes a new file. */
export const PAGE_BYTES = 4096;

/** `PRAGMA auto_vacuum` of a file from which pages can be cut off while it is in use. */
const INCREMENTAL = 2;

/** The pages of the file that hold nothing, because what they held was forgotten. */
export class FreePages {
  readonly #connection: SqliteConnection;
  readonly #count: Statement;
  readonly #autoVacuum: Statement;
  readonly #stepTarget: number;
  #pages = 16;

  /** @param stepTarget - how long one step should take, in milliseconds: a write that arrives meanwhile waits for it. */
  constructor(connection: SqliteConnection, stepTarget: number) {
    this.#connection = connection;
    this.#stepTarget = stepTarget;
    this.#count = connection.prepare('PRAGMA freelist_count');
    this.#autoVacuum = connection.prepare('PRAGMA auto_vacuum');
  }

  count(): number {
    return (this.#count.get() as { freelist_count: number }).freelist_count;
  }

  /** Bytes that free pages take, or undefined if another program has made the file anew so that it cannot shrink while in use. */
  bytes(): number | undefined {
    const { auto_vacuum: mode } = this.#autoVacuum.get() as { auto_vacuum: number };
    return mode === INCREMENTAL ? this.count() * PAGE_BYTES : undefined;
  }

  /**
   * Gives some pages back to the file system, in a few milliseconds, and returns how many. The write-ahead log is written back
   * at once: pages that were moved are scattered over the file, and a thousand of them would hold up the write that comes
   * to write them back.
   *
   * @param spare - how many stay in the file for new events.
   */
  giveBack(spare: number): number {
    const free = this.count();
    if (free <= spare) return 0;
    const pages = String(Math.min(this.#pages, free - spare));
    let started = 0;
    this.#connection.transaction(() => {
      // Not before: others may have held the lock.
      started = performance.now();
      this.#connection.execute(`PRAGMA incremental_vacuum(${pages})`);
    });
    this.#connection.execute('PRAGMA wal_checkpoint(PASSIVE)');
    this.#pages = adapted(this.#pages, performance.now() - started, this.#stepTarget, PAGES);
    return Math.max(0, free - this.count());
  }
}

/** Halves or doubles the work of a step, by how long the last one took and how long it should take, in milliseconds. */
export function adapted(amount: number, elapsed: number, target: number, { from, to }: Bounds): number {
  if (elapsed > target) return Math.max(from, amount >> 1);
  return elapsed < target / 2 ? Math.min(to, amount * 2) : amount;
}
