import { isUtf8 } from 'node:buffer';
import type { StoredEvent } from '../../events/stored-event';
import type { EventQuery, LoggedEvent, ScanQuery } from '../event-log';
import type { Statement } from './binding';
import { Page, SCAN_BYTES, paddedSequence, sequenceNumber } from '../page';
import type { SqliteConnection } from './connection/connection';
import { STORED_COLUMNS, storedEvent, TEXTS_AS_BYTES, type StoredRow } from './table';
import type { SqliteTimes } from './minutes';

interface SizeRow {
  sequence: number;
  head_bytes: number;
  data_bytes: number;
}

interface AttributesRow {
  readonly sequence: number;
  readonly attributes: string;
  /** Whether the attributes are JSON. */
  readonly valid: number;
}

interface EventRow extends AttributesRow {
  readonly id: string;
  readonly data: string | null;
  /** Whether the data, where there is any, is a member of a JSON object. */
  readonly readable: number;
}

/** `arrived`: whether how it arrived is JSON. */
type ScannedRow = StoredRow & AttributesRow & { readonly arrived: number };

/** What a text that is not UTF-8 is read with in place of what is wrong. */
const REPLACEMENT = '\ufffd';

/** Reads events. */
export class SqliteReader {
  readonly #connection: SqliteConnection;
  readonly #times: SqliteTimes;
  readonly #load: Statement;
  readonly #scan: Statement;
  readonly #total: Statement;
  readonly #scanSizes: Statement;
  readonly #newest: Statement;
  readonly #last: Statement;
  readonly #texts: Statement;
  readonly #sizeStatements = new Map<string, Statement>();

  constructor(connection: SqliteConnection, times: SqliteTimes) {
    this.#connection = connection;
    this.#times = times;
    this.#total = connection.prepare('SELECT events FROM totals');
    const scanned = 'FROM events WHERE sequence > ? AND recorded_at >= ?';
    this.#scanSizes = connection.prepare(
      `SELECT sequence, head_bytes, data_bytes ${scanned} ORDER BY sequence LIMIT ?`,
    );
    this.#scan = connection.prepare(
      `SELECT ${STORED_COLUMNS}, json_valid(attributes) AS valid, json_valid(arrival) AS arrived ${scanned} AND sequence <= ? ORDER BY sequence`,
    );
    this.#last = connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
    this.#newest = connection.prepare('SELECT max(sequence) AS newest FROM events');
    this.#texts = connection.prepare(`SELECT ${TEXTS_AS_BYTES} FROM events WHERE sequence = ?`);
    this.#load = connection.prepare(
      `SELECT *, json_valid(attributes) AS valid, data IS NULL OR json_valid('{' || data || '}') AS readable FROM
       (SELECT sequence, id, attributes, CASE WHEN sequence IN (SELECT value FROM json_each(?)) THEN NULL ELSE data END AS data
        FROM events WHERE sequence IN (SELECT value FROM json_each(?))) ORDER BY sequence`,
    );
  }

  /** Reads events as `EventLog.read` promises. Looks at sizes first, so that what does not fit is never loaded. */
  read(query: EventQuery): LoggedEvent[] {
    const { kept, omitted } = this.#select(query);
    const rows = this.#load.all(JSON.stringify([...omitted]), JSON.stringify(kept)) as EventRow[];
    return rows.map((row) => {
      const { sequence, id, attributes, data } = row;
      const event = { id, sequence: paddedSequence(sequence) };
      if (row.valid === 0 || row.readable === 0 || this.#isDamaged(sequence, [attributes, data])) {
        return { ...event, attributes: damagedAttributes(row), data: undefined, dataOmitted: false };
      }
      return { ...event, attributes, data: data ?? undefined, dataOmitted: omitted.has(sequence) };
    });
  }

  /** Whether one of the texts of an event is not UTF-8. */
  #isDamaged(sequence: number, texts: readonly unknown[]): boolean {
    // Senders may have sent the character itself.
    if (!texts.some((text) => typeof text === 'string' && text.includes(REPLACEMENT))) return false;
    const bytes = Object.values(this.#texts.get(sequence) as Readonly<Record<string, Uint8Array | null>>);
    return !bytes.every((text) => text === null || isUtf8(text));
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

  /** Reads events as `EventLog.scan` promises. Looks at sizes first here too. */
  scan({ after, limit, since = -Infinity }: ScanQuery): StoredEvent[] {
    const start = sequenceNumber(after);
    const from = since > -Infinity ? Math.max(start, this.#times.startOf(since)) : start;
    let last = from;
    let bytes = 0;
    for (const [i, row] of (this.#scanSizes.all(from, since, limit) as SizeRow[]).entries()) {
      bytes += row.head_bytes + row.data_bytes;
      if (i > 0 && bytes > SCAN_BYTES) break;
      last = row.sequence;
    }
    const rows = last > from ? (this.#scan.all(from, since, last) as ScannedRow[]) : [];
    return rows.map((row) => {
      const event = storedEvent(row);
      if (row.valid === 0)
        return { ...event, attributes: damagedAttributes(row), arrival: '{}', data: undefined, damaged: 'attributes' };
      if (row.arrived === 0) return { ...event, arrival: '{}', damaged: 'arrival' };
      return this.#isDamaged(row.sequence, Object.values(row)) ? { ...event, damaged: 'encoding' } : event;
    });
  }

  /** The position of the newest event; 0: there is none. */
  newest(): number {
    return (this.#newest.get() as { newest: number | null }).newest ?? 0;
  }

  /** The last position that was given; 0: none was. */
  last(): bigint {
    const row = this.#last.get() as { seq: number } | undefined;
    return BigInt(row?.seq ?? 0);
  }

  count(): number {
    return (this.#total.get() as { events: number }).events;
  }
}

/** The attributes of an event whose texts the disk has damaged: with `damaged`, and others in place of those that are lost. */
function damagedAttributes({ sequence, attributes, valid }: AttributesRow): string {
  if (valid === 1 && !attributes.includes(REPLACEMENT)) return `${attributes.slice(0, -1)},"damaged":true}`;
  const id = `damaged-${String(sequence)}`;
  return JSON.stringify({ specversion: '1.0', id, source: '/damaged', type: 'damaged', damaged: true });
}
