import type { StoredEvent } from '../../events/stored-event';
import type { EventQuery, LoggedEvent, ScanQuery } from '../event-log';
import type { Statement } from './binding';
import { Page, SCAN_BYTES } from '../page';
import { MAX_POSITION, paddedSequence, sequenceNumber } from '../position';
import type { SqliteConnection } from './connection/connection';
import { STORED_COLUMNS, storedEvent, type StoredRow } from './table';
import type { SqliteTimes } from './times';

interface SizeRow {
  sequence: number;
  head_bytes: number;
  data_bytes: number;
}

/** What was found in a slice of the log. */
export interface ScannedSlice {
  readonly events: StoredEvent[];
  /** Where nothing was found: the position to go on after; undefined: the log ends. */
  readonly next?: bigint;
}

/** Positions that a scan for a time looks at in one go: a few milliseconds. */
const SLICE_POSITIONS = 10_000;

interface EventRow {
  sequence: number;
  id: string;
  attributes: string;
  data: string | null;
}

/** Reads events. */
export class SqliteReader {
  readonly #connection: SqliteConnection;
  readonly #times: SqliteTimes;
  readonly #load: Statement;
  readonly #scan: Statement;
  readonly #total: Statement;
  readonly #scanSizes: Statement;
  readonly #nextPosition: Statement;
  readonly #newest: Statement;
  readonly #sizeStatements = new Map<string, Statement>();

  constructor(connection: SqliteConnection, times: SqliteTimes) {
    this.#connection = connection;
    this.#times = times;
    this.#total = connection.prepare('SELECT events FROM totals');
    const scanned = 'WHERE sequence > ? AND sequence <= ? AND recorded_at >= ? ORDER BY sequence';
    this.#scanSizes = connection.prepare(`SELECT sequence, head_bytes, data_bytes FROM events ${scanned} LIMIT ?`);
    this.#scan = connection.prepare(`SELECT ${STORED_COLUMNS} FROM events ${scanned}`);
    this.#nextPosition = connection.prepare('SELECT min(sequence) AS next FROM events WHERE sequence > ?');
    this.#newest = connection.prepare('SELECT max(sequence) AS newest FROM events');
    this.#load = connection.prepare(
      `SELECT sequence, id, attributes, CASE WHEN sequence IN (SELECT value FROM json_each(?)) THEN NULL ELSE data END AS data
       FROM events WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence`,
    );
  }

  /** Reads events as `EventLog.read` promises. Looks at sizes first, so that what does not fit is never loaded. */
  read(query: EventQuery): LoggedEvent[] {
    const { kept, omitted } = this.#select(query);
    const rows = this.#load.all(JSON.stringify([...omitted]), JSON.stringify(kept)) as EventRow[];
    return rows.map(({ sequence, id, attributes, data }) => ({
      id,
      sequence: paddedSequence(sequence),
      attributes,
      data: data ?? undefined,
      dataOmitted: omitted.has(sequence),
    }));
  }

  /** The events that fit, and which of them only without their data. */
  #select(query: EventQuery): { kept: number[]; omitted: Set<number> } {
    const kept: number[] = [];
    const omitted = new Set<number>();
    const page = new Page(query);
    for (const { sequence, head_bytes, data_bytes } of this.#sizes(query)) {
      const taken = page.take({ headBytes: head_bytes, dataBytes: data_bytes });
      if (taken === 'full') break;
      kept.push(sequence);
      if (taken === 'without data') omitted.add(sequence);
    }
    return { kept, omitted };
  }

  #sizes({ id, sequence, after, limit }: EventQuery): SizeRow[] {
    const conditions: readonly (readonly [condition: string, value: string | number | undefined])[] = [
      ['id = ?', id],
      ['sequence = ?', sequence === undefined ? undefined : sequenceNumber(sequence)],
      ['sequence > ?', after === undefined ? undefined : sequenceNumber(after)],
    ];
    const given = conditions.flatMap(([condition, value]) =>
      value === undefined ? [] : [[condition, value] as const],
    );
    const where = given.map(([condition]) => condition).join(' AND ');
    const order = after === undefined ? 'DESC' : 'ASC';
    return this.#sizeStatement(where, order).all(...given.map(([, value]) => value), limit) as SizeRow[];
  }

  #sizeStatement(where: string, order: 'ASC' | 'DESC'): Statement {
    const sql = `SELECT sequence, head_bytes, data_bytes FROM events ${where && `WHERE ${where}`}
                 ORDER BY sequence ${order} LIMIT ?`;
    const statement = this.#sizeStatements.get(sql) ?? this.#connection.prepare(sql);
    this.#sizeStatements.set(sql, statement);
    return statement;
  }

  /**
   * Reads events as `EventLog.scan` promises, but looks at no more than a slice of the log, so that other callers need not
   * wait for long: where none is found, the scan goes on after `next`. Looks at sizes first here too.
   */
  scan({ after, limit, since = -Infinity }: ScanQuery): ScannedSlice {
    const timed = since > -Infinity;
    const from = timed ? Math.max(sequenceNumber(after), this.#times.startOf(since)) : sequenceNumber(after);
    const to = timed ? from + SLICE_POSITIONS : MAX_POSITION;
    let last = from;
    let bytes = 0;
    for (const [i, row] of (this.#scanSizes.all(from, to, since, limit) as SizeRow[]).entries()) {
      bytes += row.head_bytes + row.data_bytes;
      if (i > 0 && bytes > SCAN_BYTES) break;
      last = row.sequence;
    }
    if (last > from) return { events: (this.#scan.all(from, last, since) as StoredRow[]).map(storedEvent) };
    const { next } = this.#nextPosition.get(to) as { next: number | null };
    return { events: [], ...(next !== null && { next: BigInt(next - 1) }) };
  }

  /** The position of the newest event; 0: there is none. */
  newest(): number {
    return (this.#newest.get() as { newest: number | null }).newest ?? 0;
  }

  count(): number {
    return (this.#total.get() as { events: number }).events;
  }
}
