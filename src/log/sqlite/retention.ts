import type { Statement } from './binding';
import type { Retention } from '../event-log';
import type { SqliteConnection } from './connection/connection';
import { adapted, FreePages, type Bounds } from './upkeep/free-pages';

/** How long one step should take, in milliseconds: a write that arrives meanwhile waits for it. */
const STEP_TARGET = 4;

/** Rows to delete in a step. */
const ROWS: Bounds = { from: 1, to: 1024 };
/** Most bytes that one step deletes, unless a single event has more. */
const STEP_BYTES = 512 * 1024;

/** While events are forgotten, one step in this many shrinks the file instead. */
const SHRINK_EVERY = 4;

/** Free pages that stay in the file for new events. */
const SPARE_PAGES = 256;

interface OldRow {
  readonly sequence: number;
  readonly recordedAt: number;
  readonly bytes: number;
}

/** Forgets events that are past retention, a few in each step, and gives their space back to the file system. */
export class SqliteRetention {
  readonly #retention: Retention;
  readonly #connection: SqliteConnection;
  readonly #total: Statement;
  readonly #first: Statement;
  readonly #late: Statement;
  readonly #delete: Statement;
  readonly #subtract: Statement;
  readonly #freePages: FreePages;
  #rows = 64;
  #turn = 0;

  constructor(connection: SqliteConnection, retention: Retention) {
    this.#retention = retention;
    this.#connection = connection;
    this.#total = connection.prepare('SELECT events FROM totals');
    const columns = 'sequence, recorded_at AS "recordedAt", head_bytes + data_bytes AS bytes';
    this.#first = connection.prepare(`SELECT ${columns} FROM events ORDER BY sequence LIMIT ?`);
    this.#late = connection.prepare(`SELECT ${columns} FROM events WHERE late_at < ? ORDER BY late_at LIMIT ?`);
    this.#delete = connection.prepare('DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?))');
    this.#subtract = connection.prepare('UPDATE totals SET events = events - ?');
    this.#freePages = new FreePages(connection, STEP_TARGET);
  }

  /** Takes one step: forgets events or, when none is due and now and then in between, shrinks. Returns whether to go on. */
  step(): boolean {
    const started = performance.now();
    if (++this.#turn % SHRINK_EVERY !== 0 && this.#forget()) {
      this.#rows = adapted(this.#rows, performance.now() - started, STEP_TARGET, ROWS);
      return true;
    }
    return this.#freePages.giveBack(SPARE_PAGES) > 0 || this.#due().length > 0;
  }

  #forget(): boolean {
    if (this.#due().length === 0) return false;
    this.#connection.transaction(() => {
      // Under the lock it may look different: another process may have taken the step.
      const due = this.#due();
      if (due.length > 0) this.#subtract.run(this.#delete.run(JSON.stringify(due)).changes);
    });
    return true;
  }

  /** The positions of the events that the next step forgets. */
  #due(): number[] {
    const due = new Set<number>();
    let bytes = 0;
    for (const row of this.#pastRetention()) {
      if (due.has(row.sequence)) continue;
      bytes += row.bytes;
      if (due.size === this.#rows || (due.size > 0 && bytes > STEP_BYTES)) break;
      due.add(row.sequence);
    }
    return [...due];
  }

  *#pastRetention(): Generator<OldRow> {
    const { maxEvents = Infinity, maxAge = Infinity } = this.#retention;
    const surplus = (this.#total.get() as { events: number }).events - maxEvents;
    const horizon = Date.now() - maxAge;
    for (const [i, row] of (this.#first.all(this.#rows) as OldRow[]).entries()) {
      // After an event that is young enough, only late ones can be too old.
      if (i >= surplus && row.recordedAt >= horizon) break;
      yield row;
    }
    if (maxAge !== Infinity) yield* this.#late.all(horizon, this.#rows) as OldRow[];
  }
}
