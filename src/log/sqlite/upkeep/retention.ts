import type { Retention } from '../../event-log';
import type { SqliteConnection } from '../connection';
import type { SqliteRecorder } from '../recorder';
import { BYTES, MINUTE, minuteOf } from '../schema';

/** Most events that one step deletes, and most bytes, unless a single event has more: writes wait for a step. */
const STEP_EVENTS = 64;
const STEP_BYTES = 512 * 1024;

/** Most pages that one step gives back. */
const STEP_PAGES = 64;

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

/** A minute of events, and positions between which all of them are. */
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
  #steps = 0;

  constructor(connection: SqliteConnection, retention: Retention, recorder: SqliteRecorder) {
    this.#retention = retention;
    this.#connection = connection;
    this.#recorder = recorder;
    this.#freePages = new FreePages(connection);
  }

  /** Forgets events or, when none is due and now and then in between, shrinks. Returns whether there is more to do. */
  step(): boolean {
    if (++this.#steps % SHRINK_EVERY !== 0 && this.#due() !== undefined) {
      // Under the lock it may look different: another process may have taken the step.
      this.#connection.transaction(() => this.#due()?.());
      return true;
    }
    return this.#freePages.giveBack(SPARE_PAGES, STEP_PAGES) > 0 || this.#due() !== undefined;
  }

  /** The next thing to do; undefined if nothing is past retention. */
  #due(): (() => void) | undefined {
    const surplus = this.#surplus();
    if (surplus.length > 0) return () => this.#delete(surplus);
    const horizon = Date.now() - (this.#retention.maxAge ?? Infinity);
    const oldest = this.#oldestMinute(horizon);
    if (oldest === undefined) return undefined;
    const aged = this.#aged(oldest, horizon);
    if (aged.length > 0) return () => this.#delete(aged);
    // The rest of this minute is not past the age yet; or all of it is, and its first positions have events of other minutes only.
    return oldest.minute === minuteOf(horizon)
      ? undefined
      : () => {
          this.#skipPositions(oldest);
        };
  }

  /** The first events beyond the number that is kept. */
  #surplus(): OldRow[] {
    const { maxEvents = Infinity } = this.#retention;
    const { events } = this.#connection.prepare('SELECT events FROM totals').get() as { events: number };
    const surplus = events - maxEvents;
    if (surplus <= 0) return [];
    const first = this.#connection.prepare(`${OLD_ROWS} ORDER BY sequence LIMIT ?`);
    return first.all(Math.min(surplus, STEP_EVENTS)) as OldRow[];
  }

  /** The oldest minute that may have events from before a time. */
  #oldestMinute(horizon: number): MinuteRow | undefined {
    if (horizon === -Infinity) return undefined;
    return this.#connection
      .prepare('SELECT minute, first, last FROM minutes WHERE minute <= ? ORDER BY minute LIMIT 1')
      .get(minuteOf(horizon)) as MinuteRow | undefined;
  }

  /** Events of the oldest minute from before a time, among the first positions of that minute. */
  #aged({ minute, first, last }: MinuteRow, horizon: number): OldRow[] {
    const before = Math.min(horizon, (minute + 1) * MINUTE);
    return this.#connection
      .prepare(`${OLD_ROWS} WHERE sequence BETWEEN ? AND ? AND recorded_at < ? ORDER BY sequence LIMIT ?`)
      .all(first, Math.min(last, first + MINUTE_POSITIONS), before, STEP_EVENTS) as OldRow[];
  }

  /** Deletes as many of the first rows as one step may. */
  #delete(rows: readonly OldRow[]): void {
    let bytes = 0;
    const end = rows.findIndex((row, i) => (bytes += row.bytes) > STEP_BYTES && i > 0);
    this.#recorder.delete(rows.slice(0, end === -1 ? rows.length : end).map(({ sequence }) => sequence));
  }

  /** Notes that none of the first positions of a minute has an event of it. */
  #skipPositions({ minute, first, last }: MinuteRow): void {
    if (first + MINUTE_POSITIONS >= last) this.#connection.prepare('DELETE FROM minutes WHERE minute = ?').run(minute);
    else {
      const skip = this.#connection.prepare('UPDATE minutes SET first = ? WHERE minute = ?');
      skip.run(first + MINUTE_POSITIONS + 1, minute);
    }
  }
}

/** The pages of the file whose content was forgotten. */
export class FreePages {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
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
   * @param most - how many are given back at most: writes wait for them.
   */
  giveBack(spare: number, most: number): number {
    const free = this.#count();
    if (free <= spare) return 0;
    const pages = String(Math.min(most, free - spare));
    this.#connection.transaction(() => {
      this.#connection.execute(`PRAGMA incremental_vacuum(${pages})`);
    });
    this.#connection.execute('PRAGMA wal_checkpoint(PASSIVE)');
    return Math.max(0, free - this.#count());
  }
}
