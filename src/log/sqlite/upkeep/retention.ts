import type { Statement } from '../binding';
import type { Retention } from '../../event-log';
import type { SqliteConnection } from '../connection/connection';
import { adapted, FreePages, type Bounds, type Deletion } from './forgetting';
import { MINUTE, minuteOf } from '../schema';

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

/** Positions of a minute that a step looks at. */
const MINUTE_POSITIONS = 10_000;

interface MinuteRow {
  readonly minute: number;
  readonly first: number;
  readonly last: number;
}

interface OldRow {
  readonly sequence: number;
  readonly recordedAt: number;
  readonly bytes: number;
}

/** Forgets events that are past retention, a few in each step, and gives their space back to the file system. */
export class SqliteRetention {
  readonly #retention: Retention;
  readonly #connection: SqliteConnection;
  readonly #deletion: Deletion;
  readonly #total: Statement;
  readonly #first: Statement;
  readonly #oldestMinute: Statement;
  readonly #ofMinute: Statement;
  readonly #skip: Statement;
  readonly #remove: Statement;
  readonly #freePages: FreePages;
  #rows = 64;
  #turn = 0;

  constructor(connection: SqliteConnection, retention: Retention, deletion: Deletion) {
    this.#retention = retention;
    this.#connection = connection;
    this.#deletion = deletion;
    this.#total = connection.prepare('SELECT events FROM totals');
    const columns = 'sequence, recorded_at AS "recordedAt", head_bytes + data_bytes AS bytes';
    this.#first = connection.prepare(`SELECT ${columns} FROM events ORDER BY sequence LIMIT ?`);
    this.#oldestMinute = connection.prepare(
      'SELECT minute, first, last FROM minutes WHERE minute <= ? ORDER BY minute LIMIT 1',
    );
    this.#ofMinute = connection.prepare(
      `SELECT ${columns} FROM events WHERE sequence BETWEEN ? AND ? AND recorded_at < ? ORDER BY sequence LIMIT ?`,
    );
    this.#skip = connection.prepare('UPDATE minutes SET first = ? WHERE minute = ?');
    this.#remove = connection.prepare('DELETE FROM minutes WHERE minute = ?');
    this.#freePages = new FreePages(connection, STEP_TARGET);
  }

  /** Takes one step: forgets events or, when none is due and now and then in between, shrinks. Returns whether to go on. */
  step(): boolean {
    const started = performance.now();
    if (++this.#turn % SHRINK_EVERY !== 0 && this.#isDue()) {
      // Under the lock it may look different: another process may have taken the step.
      this.#connection.transaction(() => {
        const surplus = this.#surplus();
        const due = surplus.length > 0 ? surplus : this.#aged();
        if (due.length > 0) this.#deletion.delete(withinBounds(due, this.#rows));
        else this.#skipPositions();
      });
      this.#rows = adapted(this.#rows, performance.now() - started, STEP_TARGET, ROWS);
      return true;
    }
    return this.#freePages.giveBack(SPARE_PAGES) > 0 || this.#isDue();
  }

  #isDue(): boolean {
    return this.#surplus().length > 0 || this.#aged().length > 0 || this.#isOverdue(this.#oldest()?.minute);
  }

  /** The first events beyond the number that is kept. */
  #surplus(): OldRow[] {
    const { maxEvents = Infinity } = this.#retention;
    const surplus = (this.#total.get() as { events: number }).events - maxEvents;
    return surplus <= 0 ? [] : (this.#first.all(Math.min(surplus, this.#rows)) as OldRow[]);
  }

  /** Before this time events are past the age. */
  #horizon(): number {
    return Date.now() - (this.#retention.maxAge ?? Infinity);
  }

  /** The oldest minute that may have such events. */
  #oldest(): MinuteRow | undefined {
    const horizon = this.#horizon();
    return horizon === -Infinity ? undefined : (this.#oldestMinute.get(minuteOf(horizon)) as MinuteRow | undefined);
  }

  /** Whether all events of a minute are past the age. */
  #isOverdue(minute: number | undefined): boolean {
    return minute !== undefined && minute < minuteOf(this.#horizon());
  }

  /** Events of the oldest minute that are past the age, among the first positions of that minute. */
  #aged(): OldRow[] {
    const oldest = this.#oldest();
    if (oldest === undefined) return [];
    const { minute, first, last } = oldest;
    const before = Math.min(this.#horizon(), (minute + 1) * MINUTE);
    return this.#ofMinute.all(first, Math.min(last, first + MINUTE_POSITIONS), before, this.#rows) as OldRow[];
  }

  /** Notes that none of the first positions of the oldest minute has an event of it. */
  #skipPositions(): void {
    const { minute = 0, first = 0, last = 0 } = this.#oldest() ?? {};
    if (!this.#isOverdue(minute)) return;
    if (first + MINUTE_POSITIONS >= last) this.#remove.run(minute);
    else this.#skip.run(first + MINUTE_POSITIONS + 1, minute);
  }
}

/** As many of the first positions as one step may delete. */
function withinBounds(rows: readonly OldRow[], most: number): number[] {
  let bytes = 0;
  const end = rows.findIndex((row, i) => i === most || ((bytes += row.bytes) > STEP_BYTES && i > 0));
  return rows.slice(0, end === -1 ? rows.length : end).map(({ sequence }) => sequence);
}
