import type { Retention } from '../../event-log';
import type { SqliteConnection } from '../connection';
import type { SqliteRecorder } from '../recorder';
import { BYTES, MINUTE, minuteOf } from '../schema';

/** How long one step should take, in milliseconds: writes wait for it. */
const STEP_TARGET = 4;

/** Bounds between which the work of a step adapts to the time that it should take. */
interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Rows to delete in a step. */
const ROWS: Bounds = { from: 1, to: 1024 };

/** Pages to give back in a step. */
const PAGES: Bounds = { from: 4, to: 256 };

/** Most bytes that one step deletes, unless a single event has more. */
const STEP_BYTES = 512 * 1024;

/** While events are forgotten, one step in this many shrinks the file instead. */
const SHRINK_EVERY = 4;

/** Free pages that stay in the file for new events. */
const SPARE_PAGES = 256;

/** Bytes of a page in the files that SQLite creates. */
export const PAGE_BYTES = 4096;

/** `PRAGMA auto_vacuum` of a file from which pages can be cut off while it is in use. */
const INCREMENTAL = 2;

/** Positions of a minute that a step looks at. */
const MINUTE_POSITIONS = 10_000;

interface MinuteRow {
  readonly minute: number;
  readonly first: number;
  readonly last: number;
}

interface OldRow {
  readonly sequence: number;
  readonly bytes: number;
}

const OLD_ROWS = `SELECT sequence, ${BYTES} AS bytes FROM events`;

/** Forgets events that are past retention, a few in each step, and gives their space back to the file system. */
export class SqliteRetention {
  readonly #retention: Retention;
  readonly #connection: SqliteConnection;
  readonly #recorder: SqliteRecorder;
  readonly #freePages: FreePages;
  #rows = 64;
  #turn = 0;

  constructor(connection: SqliteConnection, retention: Retention, recorder: SqliteRecorder) {
    this.#retention = retention;
    this.#connection = connection;
    this.#recorder = recorder;
    this.#freePages = new FreePages(connection, STEP_TARGET);
  }

  /** Forgets events or, when none is due and now and then in between, shrinks. Returns whether there is more to do. */
  step(): boolean {
    const started = performance.now();
    if (++this.#turn % SHRINK_EVERY !== 0 && this.#isDue()) {
      // Under the lock it may look different: another process may have taken the step.
      this.#connection.transaction(() => {
        const surplus = this.#surplus();
        const due = surplus.length > 0 ? surplus : this.#aged();
        if (due.length > 0) this.#recorder.delete(withinBounds(due, this.#rows));
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
    const { events } = this.#connection.prepare('SELECT events FROM totals').get() as { events: number };
    const surplus = events - maxEvents;
    if (surplus <= 0) return [];
    const first = this.#connection.prepare(`${OLD_ROWS} ORDER BY sequence LIMIT ?`);
    return first.all(Math.min(surplus, this.#rows)) as OldRow[];
  }

  /** Before this time events are past the age. */
  #horizon(): number {
    return Date.now() - (this.#retention.maxAge ?? Infinity);
  }

  /** The oldest minute that may have such events. */
  #oldest(): MinuteRow | undefined {
    const horizon = this.#horizon();
    if (horizon === -Infinity) return undefined;
    return this.#connection
      .prepare('SELECT minute, first, last FROM minutes WHERE minute <= ? ORDER BY minute LIMIT 1')
      .get(minuteOf(horizon)) as MinuteRow | undefined;
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
    return this.#connection
      .prepare(`${OLD_ROWS} WHERE sequence BETWEEN ? AND ? AND recorded_at < ? ORDER BY sequence LIMIT ?`)
      .all(first, Math.min(last, first + MINUTE_POSITIONS), before, this.#rows) as OldRow[];
  }

  /** Notes that none of the first positions of the oldest minute has an event of it. */
  #skipPositions(): void {
    const { minute = 0, first = 0, last = 0 } = this.#oldest() ?? {};
    if (!this.#isOverdue(minute)) return;
    if (first + MINUTE_POSITIONS >= last) this.#connection.prepare('DELETE FROM minutes WHERE minute = ?').run(minute);
    else {
      const skip = this.#connection.prepare('UPDATE minutes SET first = ? WHERE minute = ?');
      skip.run(first + MINUTE_POSITIONS + 1, minute);
    }
  }
}

/** As many of the first positions as one step may delete. */
function withinBounds(rows: readonly OldRow[], most: number): number[] {
  let bytes = 0;
  const end = rows.findIndex((row, i) => i === most || ((bytes += row.bytes) > STEP_BYTES && i > 0));
  return rows.slice(0, end === -1 ? rows.length : end).map(({ sequence }) => sequence);
}

/** The pages of the file whose content was forgotten. */
export class FreePages {
  readonly #connection: SqliteConnection;
  readonly #stepTarget: number;
  #pages = 16;

  /** @param stepTarget - how long one step should take, in milliseconds: writes wait for it. */
  constructor(connection: SqliteConnection, stepTarget: number) {
    this.#connection = connection;
    this.#stepTarget = stepTarget;
  }

  #count(): number {
    const row = this.#connection.prepare('PRAGMA freelist_count').get();
    return (row as { freelist_count: number }).freelist_count;
  }

  /** Bytes of free pages; undefined where another program has made the file anew so that it cannot shrink while in use. */
  bytes(): number | undefined {
    const { auto_vacuum: mode } = this.#connection.prepare('PRAGMA auto_vacuum').get() as { auto_vacuum: number };
    return mode === INCREMENTAL ? this.#count() * PAGE_BYTES : undefined;
  }

  /**
   * Gives some pages back to the file system and returns how many. The write-ahead log is written back at once: the pages that
   * were moved are scattered over the file, and a thousand of them would hold up the write that has to write them back.
   *
   * @param spare - how many stay in the file for new events.
   */
  giveBack(spare: number): number {
    const free = this.#count();
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
    return Math.max(0, free - this.#count());
  }
}

/** Halves or doubles the work of a step by the time that the last one took, and its target, in milliseconds. */
function adapted(amount: number, elapsed: number, target: number, { from, to }: Bounds): number {
  if (elapsed > target) return Math.max(from, amount >> 1);
  return elapsed < target / 2 ? Math.min(to, amount * 2) : amount;
}
