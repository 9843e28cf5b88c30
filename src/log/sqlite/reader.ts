import { isUtf8 } from 'node:buffer';
import { LAST_POSITION } from '../../events/position';
import type { StoredEvent } from '../../events/stored-event';
import type { EventQuery, LoggedEvent, ScanQuery } from '../log-reader';
import { Page, SCAN_BYTES, type EventSize } from '../page';
import type { ReadableConnection } from './read-only';
import { BYTES, MINUTE, minuteOf, STORED_COLUMNS, storedEvent, TEXTS_AS_BYTES, type StoredRow } from './schema';

interface SizeRow extends EventSize {
  readonly position: number;
}

const SIZES =
  'sequence AS position, octet_length(attributes) AS "attributesBytes", ifnull(octet_length(data), 0) AS "dataBytes"';

interface AttributesRow {
  readonly position: number;
  readonly attributes: string;
  /** Whether the attributes are JSON. */
  readonly valid: number;
}

interface DataRow {
  readonly data: string | null;
  /** Whether the data, if there is any, is a member of a JSON object that is at most 1,000 levels deep. */
  readonly readable: number;
}

interface EventRow extends AttributesRow, DataRow {
  readonly id: string;
}

const READABLE = `data IS NULL OR json_valid('{' || data || '}') AS readable`;

/** Loads the events at some positions (the second parameter), those of the first parameter without their data. */
const LOAD = `
  SELECT *, json_valid(attributes) AS valid, ${READABLE} FROM
  (SELECT sequence AS position, id, attributes, CASE WHEN sequence IN (SELECT value FROM json_each(?)) THEN NULL ELSE data END AS data
   FROM events WHERE sequence IN (SELECT value FROM json_each(?))) ORDER BY position`;

/** `arrived`: whether how it arrived is JSON. */
type ScannedRow = StoredRow & AttributesRow & DataRow & { readonly arrived: number };

const SCAN_SIZES = `SELECT sequence AS position, ${BYTES} AS bytes FROM events WHERE sequence > ? AND recorded_at >= ? ORDER BY sequence LIMIT ?`;
const SCAN = `
  SELECT ${STORED_COLUMNS}, json_valid(attributes) AS valid, json_valid(arrival) AS arrived, ${READABLE}
  FROM events WHERE sequence > ? AND recorded_at >= ? AND sequence <= ? ORDER BY sequence`;

const TEXTS = `SELECT ${TEXTS_AS_BYTES} FROM events WHERE sequence = ?`;

/** Replaces invalid bytes when a text that is not UTF-8 is read. */
const REPLACEMENT = '\ufffd';

/** Reads events. */
export class SqliteReader {
  readonly #connection: ReadableConnection;

  constructor(connection: ReadableConnection) {
    this.#connection = connection;
  }

  /** Reads events as `EventLog.read` promises. Looks at sizes first, so that what does not fit is never loaded. */
  read(query: EventQuery): LoggedEvent[] {
    const kept: number[] = [];
    const omitted = new Set<number>();
    const page = new Page(query);
    for (const row of this.#sizes(query)) {
      const taken = page.take(row);
      if (taken === 'full') break;
      kept.push(row.position);
      if (taken === 'without data') omitted.add(row.position);
    }
    const rows = this.#connection.prepare(LOAD).all(JSON.stringify([...omitted]), JSON.stringify(kept)) as EventRow[];
    return rows.map((row) => {
      const { position, id, attributes, data } = row;
      if (row.valid === 0 || !isReadable(row) || this.#isDamaged(position, [attributes, data])) {
        return { id, position, attributes: damagedAttributes(row), data: undefined, dataOmitted: false };
      }
      return { id, position, attributes, data: data ?? undefined, dataOmitted: omitted.has(position) };
    });
  }

  /** Whether one of the texts of an event is not UTF-8. */
  #isDamaged(position: number, texts: readonly unknown[]): boolean {
    // Senders may have sent the character itself.
    if (!texts.some((text) => typeof text === 'string' && text.includes(REPLACEMENT))) return false;
    const row = this.#connection.prepare(TEXTS).get(position) as Readonly<Record<string, Uint8Array | null>>;
    return !Object.values(row).every((text) => text === null || isUtf8(text));
  }

  #sizes({ id, position, after, before, limit }: EventQuery): SizeRow[] {
    const conditions: [sql: string, value: string | number][] = [];
    if (id !== undefined) conditions.push(['id = ?', id]);
    if (position !== undefined) conditions.push(['sequence = ?', position]);
    if (after !== undefined) conditions.push(['sequence > ?', after]);
    if (before !== undefined) conditions.push(['sequence < ?', before]);
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`;
    const order = after === undefined ? 'DESC' : 'ASC';
    return this.#connection
      .prepare(`SELECT ${SIZES} FROM events ${where} ORDER BY sequence ${order} LIMIT ?`)
      .all(...conditions.map(([, value]) => value), limit) as SizeRow[];
  }

  /** Reads events as `EventLog.scan` promises. Looks at sizes first here too. */
  scan({ after, limit, since = -Infinity }: ScanQuery): StoredEvent[] {
    const from = since > -Infinity ? Math.max(after, this.startOf(since)) : after;
    let last = from;
    let bytes = 0;
    const sizes = this.#connection.prepare(SCAN_SIZES).all(from, since, limit) as { position: number; bytes: number }[];
    for (const [i, { position, bytes: own }] of sizes.entries()) {
      bytes += own;
      if (i > 0 && bytes > SCAN_BYTES) break;
      last = position;
    }
    const rows = last > from ? (this.#connection.prepare(SCAN).all(from, since, last) as ScannedRow[]) : [];
    return rows.map((row) => {
      const event = storedEvent(row);
      const attributes = damagedAttributes(row);
      if (row.valid === 0) return { ...event, attributes, arrival: '{}', data: undefined, damaged: 'attributes' };
      const arrival = row.arrived === 0 ? '{}' : event.arrival;
      if (!isReadable(row)) return { ...event, attributes, arrival, data: undefined, damaged: 'data' };
      if (row.arrived === 0) return { ...event, arrival, damaged: 'arrival' };
      const isDamaged = this.#isDamaged(row.position, Object.values(row));
      return isDamaged ? { ...event, attributes, damaged: 'encoding' } : event;
    });
  }

  /** The position of the newest event; 0: there is none. */
  newest(): number {
    const row = this.#connection.prepare('SELECT max(sequence) AS newest FROM events').get();
    return (row as { newest: number | null }).newest ?? 0;
  }

  /** The last position that was given; 0: none was. */
  last(): number {
    const row = this.#connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get();
    return (row as { seq: number } | undefined)?.seq ?? 0;
  }

  count(): number {
    return (this.#connection.prepare('SELECT events FROM totals').get() as { events: number }).events;
  }

  /** A position before every event that was recorded at a time or later, and after as many others as the minutes tell. */
  startOf(time: number): number {
    const row = this.#connection.prepare('SELECT min(first) AS position FROM minutes WHERE minute >= ?');
    const { position } = row.get(minuteOf(time)) as { position: number | null };
    return position === null ? LAST_POSITION : position - 1;
  }

  /** A position after every event that was recorded before a time, and before as many others as the minutes tell. */
  endOf(time: number): number {
    const row = this.#connection.prepare('SELECT max(last) AS position FROM minutes WHERE minute <= ?');
    const { position } = row.get(minuteOf(time - 1)) as { position: number | null };
    return (position ?? 0) + 1;
  }

  /** As `Engine.counts`. Takes the longer the more events are in the minutes in which the times are. */
  counts(times: readonly number[]): number[] {
    return times.slice(1).map((to, i) => this.#countBetween(times[i] ?? to, to));
  }

  #countBetween(from: number, to: number): number {
    const firstWhole = Math.ceil(from / MINUTE);
    const endWhole = Math.floor(to / MINUTE);
    if (firstWhole > endWhole) return this.#countInMinute(from, to);
    const { events } = this.#connection
      .prepare('SELECT total(events) AS events FROM minutes WHERE minute >= ? AND minute < ?')
      .get(firstWhole, endWhole) as { events: number };
    return events + this.#countInMinute(from, firstWhole * MINUTE) + this.#countInMinute(endWhole * MINUTE, to);
  }

  /** Both times are in one minute, or the second is its end. */
  #countInMinute(from: number, to: number): number {
    if (from === to) return 0;
    const { events } = this.#connection
      .prepare(
        `SELECT count(*) AS events FROM minutes JOIN events ON sequence BETWEEN first AND last
         WHERE minute = ? AND recorded_at >= ? AND recorded_at < ?`,
      )
      .get(minuteOf(from), from, to) as { events: number };
    return events;
  }
}

function isReadable({ data, readable }: DataRow): boolean {
  if (readable === 1) return true;
  try {
    JSON.parse(`{${data ?? ''}}`);
    return true;
  } catch {
    return false;
  }
}

/** The attributes of an event whose texts the disk has damaged: with `damaged`, and others in place of those that are lost. */
function damagedAttributes({ position, attributes, valid }: AttributesRow): string {
  if (valid === 1 && !attributes.includes(REPLACEMENT)) return `${attributes.slice(0, -1)},"damaged":true}`;
  const id = `damaged-${String(position)}`;
  return JSON.stringify({ specversion: '1.0', id, source: '/damaged', type: 'damaged', damaged: true });
}
