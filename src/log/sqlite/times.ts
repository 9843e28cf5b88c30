import type { Statement } from './binding';
import { MAX_POSITION } from '../position';
import type { SqliteConnection } from './connection/connection';

/** Most late events that are looked at to find where a time ends, and most of them in a row. */
const MAX_LATE = 10_000;
const MAX_LATE_RUN = 2000;

interface InOrderRow {
  readonly sequence: number;
  readonly recordedAt: number;
}

/** The positions before the first event and of the last one; the same in an empty log. */
interface Ends {
  readonly start: number;
  readonly end: number;
}

interface LateRow {
  readonly found: number;
  readonly sequence: number | null;
}

/**
 * Where a time lies among the events that are not late: those up to `position` were recorded before it, those after `bound` were
 * not. The two differ where so many late events stand in a row that those in between were not found.
 */
export interface Edge {
  readonly position: number;
  readonly bound: number;
}

/** Finds positions by time. Times grow with the positions but for those of events that are late, of which there are few. */
export class SqliteTimes {
  readonly #ends: Statement;
  readonly #inOrder: Statement;
  readonly #lastLate: Statement;

  constructor(connection: SqliteConnection) {
    // As one query without subqueries it would read the whole index.
    this.#ends = connection.prepare(
      `SELECT ifnull((SELECT min(sequence) FROM events), 1) - 1 AS start,
              ifnull((SELECT max(sequence) FROM events), 0) AS "end"`,
    );
    this.#inOrder = connection.prepare(
      `SELECT sequence, recorded_at AS "recordedAt" FROM events
       WHERE sequence BETWEEN ? AND ? AND late_at IS NULL ORDER BY sequence LIMIT 1`,
    );
    this.#lastLate = connection.prepare(
      `SELECT count(*) AS found, max(sequence) AS sequence
       FROM (SELECT sequence FROM events WHERE late_at < ? LIMIT ?)`,
    );
  }

  /** A position before every event that was recorded at a time or later: those that are late stand after one in order. */
  startOf(time: number): number {
    return this.edge(time).position;
  }

  /** A position after every event that was recorded before a time. */
  endOf(time: number): number {
    const { found, sequence } = this.#lastLate.get(time, MAX_LATE) as LateRow;
    if (found === MAX_LATE) return MAX_POSITION;
    return Math.max(this.edge(time).bound, sequence ?? 0) + 1;
  }

  /** Finds where a time lies, by bisection. */
  edge(time: number): Edge {
    const ends = this.#ends.get() as Ends;
    const earliest = this.#bisect(time, ends, 'earlier').position;
    const next = this.#nextInOrder(earliest + 1, ends.end);
    if (next === undefined || (next !== 'hidden' && next.recordedAt >= time)) {
      return { position: earliest, bound: earliest };
    }
    const latest = this.#bisect(time, ends, 'later');
    return { position: latest.isEvent ? latest.position : earliest, bound: latest.position };
  }

  /** @param hidden - where a time is taken to lie that may be hidden by late events. */
  #bisect(time: number, { start, end }: Ends, hidden: 'earlier' | 'later'): { position: number; isEvent: boolean } {
    let from = start;
    let to = end;
    let isEvent = false;
    // Those up to `from` are older, those after `to` are not.
    while (from < to) {
      const middle = Math.floor((from + to) / 2) + 1;
      const row = this.#nextInOrder(middle, to);
      if (row === 'hidden' && hidden === 'later') [from, isEvent] = [middle + MAX_LATE_RUN - 1, false];
      else if (row === 'hidden' || row === undefined || row.recordedAt >= time) to = middle - 1;
      else [from, isEvent] = [row.sequence, true];
    }
    return { position: from, isEvent };
  }

  /** The next event in order among those from one position to another; it may be hidden by late events. */
  #nextInOrder(from: number, to: number): InOrderRow | 'hidden' | undefined {
    const last = Math.min(to, from + MAX_LATE_RUN - 1);
    const row = this.#inOrder.get(from, last) as InOrderRow | undefined;
    return row ?? (last < to ? 'hidden' : undefined);
  }
}
