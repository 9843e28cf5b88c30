import type Database from 'libsql';
import type { Retention } from './event-log';

/** How long one step should take, in milliseconds: a write that comes meanwhile waits for it. */
const STEP_TARGET = 4;
/** What one step takes on adapts to the target between these bounds: rows to delete, pages to give back. */
const ROWS = { from: 1, to: 1024 };
const PAGES = { from: 4, to: 256 };
/** Most bytes that one step deletes, unless a single event has more. */
const STEP_BYTES = 512 * 1024;

/** While there is much to forget, one step in so many shrinks the file instead. */
const SHRINK_EVERY = 4;

/** Free pages that stay in the file for the events to come. */
const SPARE_PAGES = 256;

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
  #pages = 16;
  #turn = 0;

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

  /** Takes one step: forgets, and where nothing is due, and now and then in between, shrinks. Returns whether to go on. */
  step(): boolean {
    const started = performance.now();
    if (++this.#turn % SHRINK_EVERY !== 0 && this.#forget()) {
      this.#rows = adapted(this.#rows, performance.now() - started, ROWS);
      return true;
    }
    const shrank = this.#shrink();
    if (shrank) this.#pages = adapted(this.#pages, performance.now() - started, PAGES);
    return shrank || this.#due() !== undefined;
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

  /**
   * Gives free pages back. The write-ahead log is written back at once: pages that were moved are scattered over the file,
   * and a thousand of them would hold up the write that comes to write them back.
   */
  #shrink(): boolean {
    const free = this.#freePages();
    if (free <= SPARE_PAGES) return false;
    this.#database.exec(`PRAGMA incremental_vacuum(${String(Math.min(this.#pages, free - SPARE_PAGES))})`);
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    // A file of schema version 1 was not made to shrink: its free pages are used again instead.
    return this.#freePages() < free;
  }

  #freePages(): number {
    return (this.#free.get() as { freelist_count: number }).freelist_count;
  }
}

/** Halves or doubles what a step takes on, by the milliseconds that the last one took. */
function adapted(
  amount: number,
  elapsed: number,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  if (elapsed > STEP_TARGET) return Math.max(from, amount >> 1);
  return elapsed < STEP_TARGET / 2 ? Math.min(to, amount * 2) : amount;
}
