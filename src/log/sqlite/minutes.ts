import { MAX_POSITION } from '../page';
import type { Statement } from './binding';
import type { SqliteConnection } from './connection/connection';
import { MINUTE, minuteOf } from './schema';

/** Positions between which all events of a minute are. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** Adds to the counts of minutes, and takes from them, in the transaction that adds or deletes the events. */
export class MinuteCounts {
  readonly #add: Statement;
  readonly #subtract: Statement;
  readonly #remove: Statement;
  readonly #total: Statement;
  readonly #added = new Map<number, { events: number; first: number; last: number; milliseconds: number }>();

  constructor(connection: SqliteConnection) {
    this.#add = connection.prepare(
      `INSERT INTO minutes VALUES (?, ?, ?, ?, ?) ON CONFLICT (minute) DO UPDATE SET
       events = events + excluded.events, first = min(first, excluded.first), last = max(last, excluded.last),
       milliseconds = milliseconds + excluded.milliseconds`,
    );
    this.#subtract = connection.prepare(
      'UPDATE minutes SET events = events - ?, milliseconds = milliseconds - ? WHERE minute = ?',
    );
    this.#remove = connection.prepare('DELETE FROM minutes WHERE minute = ? AND events <= 0');
    this.#total = connection.prepare('UPDATE totals SET events = events + ?');
  }

  /** Notes an event that was recorded. Positions must grow. */
  note(recordedAt: number, position: number): void {
    const minute = minuteOf(recordedAt);
    const milliseconds = recordedAt - minute * MINUTE;
    const noted = this.#added.get(minute);
    if (noted === undefined) this.#added.set(minute, { events: 1, first: position, last: position, milliseconds });
    else {
      noted.events++;
      noted.last = position;
      noted.milliseconds += milliseconds;
    }
  }

  /** Writes what was noted. */
  write(): void {
    let total = 0;
    for (const [minute, { events, first, last, milliseconds }] of this.#added) {
      this.#add.run(minute, events, first, last, milliseconds);
      total += events;
    }
    this.#added.clear();
    if (total > 0) this.#total.run(total);
  }

  /** Forgets what was noted by a transaction that failed. */
  discard(): void {
    this.#added.clear();
  }

  /** Takes events that were deleted from the counts. */
  subtract(times: readonly number[]): void {
    for (const minute of new Set(times.map(minuteOf))) {
      const offsets = times.filter((time) => minuteOf(time) === minute).map((time) => time - minute * MINUTE);
      const milliseconds = offsets.reduce((sum, offset) => sum + offset, 0);
      this.#subtract.run(offsets.length, milliseconds, minute);
      this.#remove.run(minute);
    }
    if (times.length > 0) this.#total.run(-times.length);
  }
}

/** Finds positions by time, and counts events by it. */
export class SqliteTimes {
  readonly #first: Statement;
  readonly #last: Statement;
  readonly #sum: Statement;
  readonly #range: Statement;
  readonly #count: Statement;

  constructor(connection: SqliteConnection) {
    this.#first = connection.prepare('SELECT min(first) AS position FROM minutes WHERE minute >= ?');
    this.#last = connection.prepare('SELECT max(last) AS position FROM minutes WHERE minute <= ?');
    this.#sum = connection.prepare('SELECT total(events) AS events FROM minutes WHERE minute >= ? AND minute < ?');
    this.#range = connection.prepare('SELECT first, last FROM minutes WHERE minute = ?');
    this.#count = connection.prepare(
      `SELECT count(*) AS events FROM events
       WHERE sequence BETWEEN ? AND ? AND recorded_at >= ? AND recorded_at < ?`,
    );
  }

  /** A position before every event that was recorded at a time or later, and after as many others as the minutes tell. */
  startOf(time: number): number {
    const { position } = this.#first.get(minuteOf(time)) as { position: number | null };
    return position === null ? MAX_POSITION : position - 1;
  }

  /** A position after every event that was recorded before a time, and before as many others as the minutes tell. */
  endOf(time: number): number {
    const { position } = this.#last.get(minuteOf(time - 1)) as { position: number | null };
    return (position ?? 0) + 1;
  }

  /** As `LogEngine.counts`. Takes the longer the more events are in the minutes in which the times are. */
  counts(times: readonly number[]): number[] {
    return times.slice(1).map((to, i) => this.#between(times[i] ?? to, to));
  }

  /** How many events were recorded from one time until before another. */
  #between(from: number, to: number): number {
    const firstWhole = Math.ceil(from / MINUTE);
    const endWhole = Math.floor(to / MINUTE);
    if (firstWhole > endWhole) return this.#inMinute(from, to);
    const { events } = this.#sum.get(firstWhole, endWhole) as { events: number };
    return events + this.#inMinute(from, firstWhole * MINUTE) + this.#inMinute(endWhole * MINUTE, to);
  }

  /** Both times are in one minute, or the second is where it ends. */
  #inMinute(from: number, to: number): number {
    if (from === to) return 0;
    const range = this.#range.get(minuteOf(from)) as Range | undefined;
    return range === undefined ? 0 : (this.#count.get(range.first, range.last, from, to) as { events: number }).events;
  }
}
