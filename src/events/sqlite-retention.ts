import type Database from 'libsql';
import type { Retention } from './event-log';

/** How long one step should take, in milliseconds: a write that comes meanwhile waits for it. */
const STEP_TARGET = 5;
/** Rows and bytes of one step: the rows adapt to the target between these bounds. */
const MIN_ROWS = 1;
const MAX_ROWS = 1024;
const STEP_BYTES = 256 * 1024;

/** Free pages that stay in the file for the events to come, and how many one step gives back to the file system. */
const SPARE_PAGES = 256;
const STEP_PAGES = 64;

interface OldRow {
  sequence: number;
  recorded_at: number;
  bytes: number;
}

/** Forgets the oldest events, a few in each step, and gives the space that they took back to the file system. */
export class SqliteRetention {
  readonly #retention: Retention;
  readonly #database: Database.Database;
  readonly #total: Database.Statement;
  readonly #oldest: Database.Statement;
  readonly #delete: Database.Statement;
  readonly #subtract: Database.Statement;
  readonly #free: Database.Statement;
  #rows = 64;
  #shrunk = false;

  constructor(database: Database.Database, retention: Retention) {
    this.#retention = retention;
    this.#database = database;
    this.#total = database.prepare('SELECT events FROM totals');
    this.#oldest = database.prepare(
      'SELECT sequence, recorded_at, head_bytes + data_bytes AS bytes FROM events ORDER BY sequence LIMIT ?',
    );
    this.#delete = database.prepare('DELETE FROM events WHERE sequence <= ?');
    this.#subtract = database.prepare('UPDATE totals SET events = events - ?');
    this.#free = database.prepare('PRAGMA freelist_count');
  }

  /** Takes one step. Returns whether there is more to do. */
  step(): boolean {
    const started = performance.now();
    if (this.#forget()) this.#adapt(performance.now() - started);
    else if (this.#shrink()) this.#shrunk = true;
    else if (this.#shrunk) this.#writeBack();
    else return false;
    return true;
  }

  #forget(): boolean {
    if (this.#due() === undefined) return false;
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      // Looked at again behind the lock: another process may have taken the step.
      const last = this.#due();
      if (last !== undefined) this.#subtract.run(this.#delete.run(last).changes);
      this.#database.exec('COMMIT');
      return true;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** The last of the events that the next step forgets; undefined: none is due. */
  #due(): number | undefined {
    const { maxEvents = Infinity, maxAge = Infinity } = this.#retention;
    const { events } = this.#total.get() as { events: number };
    const surplus = events - maxEvents;
    const horizon = Date.now() - maxAge;
    let last: number | undefined;
    let bytes = 0;
    for (const [i, row] of (this.#oldest.all(this.#rows) as OldRow[]).entries()) {
      bytes += row.bytes;
      if ((i >= surplus && row.recorded_at >= horizon) || (i > 0 && bytes > STEP_BYTES)) break;
      last = row.sequence;
    }
    return last;
  }

  #shrink(): boolean {
    const free = this.#freePages();
    if (free <= SPARE_PAGES) return false;
    this.#database.exec(`PRAGMA incremental_vacuum(${String(Math.min(STEP_PAGES, free - SPARE_PAGES))})`);
    // A file of schema version 1 was not made to shrink: its free pages are used again instead.
    return this.#freePages() < free;
  }

  /** The file itself shrinks when the write-ahead log is written back, which otherwise waits for a thousand pages. */
  #writeBack(): void {
    this.#shrunk = false;
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  #freePages(): number {
    return (this.#free.get() as { freelist_count: number }).freelist_count;
  }

  #adapt(elapsed: number): void {
    if (elapsed > STEP_TARGET) this.#rows = Math.max(MIN_ROWS, this.#rows >> 1);
    else if (elapsed < STEP_TARGET / 2) this.#rows = Math.min(MAX_ROWS, this.#rows * 2);
  }
}
