import Database from 'libsql';
import type { Appended, EventQuery, LoggedEvent, NewEvent } from './event-log';
import { wireBytes } from './wire-bytes';

/** How a SQLite event log is opened. */
export interface SqliteOptions {
  /** Path of the database file. It is created when it is missing; its folder must be there. */
  readonly file: string;
  /** How long a call waits for another program that holds the database's lock, in milliseconds. */
  readonly busyTimeout: number;
  /** Most pages (4,096 bytes each) that the database may grow to; undefined: as many as the disk holds. */
  readonly maxPages?: number;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS events (
    sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL,
    source          TEXT NOT NULL,
    idempotency_key TEXT,
    webhook_id      TEXT,
    head_bytes      INTEGER NOT NULL,
    data_bytes      INTEGER NOT NULL,
    attributes      TEXT NOT NULL,
    arrival         TEXT NOT NULL,
    data            TEXT
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_id ON events (id, source);
  CREATE UNIQUE INDEX IF NOT EXISTS events_idempotency_key ON events (idempotency_key)
    WHERE idempotency_key IS NOT NULL;
  CREATE UNIQUE INDEX IF NOT EXISTS events_webhook_id ON events (webhook_id)
    WHERE webhook_id IS NOT NULL;
`;

/** Digits of the largest position that any engine numbers events with (2^64 - 1). */
const SEQUENCE_DIGITS = 20;

/** Bytes of the member that the position becomes: `,"sequence":"…"`. */
const SEQUENCE_MEMBER_BYTES = ',"sequence":""'.length + SEQUENCE_DIGITS;

/** No position in a log is larger: at a million events a second it is reached after 285 years. */
const MAX_SEQUENCE = BigInt(Number.MAX_SAFE_INTEGER);

/** A UTF-16 code unit takes at most this many bytes when percent-encoded: three bytes of three characters. */
const PERCENT_ENCODED_UNIT_BYTES = 9;

interface SizeRow {
  sequence: number;
  id: string;
  head_bytes: number;
  data_bytes: number;
}

interface EventRow {
  sequence: number;
  id: string;
  attributes: string;
  data: string | null;
}

/**
 * The SQLite side of the event log: one connection, synchronous. It runs in a worker thread, so that neither a slow disk
 * nor another program's lock holds up the thread that answers requests.
 */
export class SqliteDatabase {
  readonly #database: Database.Database;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #insert: Database.Statement;
  readonly #findFirst: Database.Statement;
  readonly #load: Database.Statement;
  readonly #sizeStatements = new Map<string, Database.Statement>();

  /** @throws the database cannot be opened, or is not one. */
  constructor(options: SqliteOptions) {
    const database = new Database(options.file);
    this.#database = database;
    database.exec(`PRAGMA busy_timeout = ${String(options.busyTimeout)}`);
    // Two processes that turn a new file into a WAL database at the same moment: one is told "locked" without waiting.
    retryWhileLocked(options.busyTimeout, () => {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    });
    if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${String(options.maxPages)}`);
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);

    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#insert = database.prepare(
      `INSERT INTO events
         (id, source, idempotency_key, webhook_id, head_bytes, data_bytes, attributes, arrival, data)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#findFirst = database.prepare(
      `SELECT id FROM events WHERE (id = ? AND source = ?) OR idempotency_key = ? OR webhook_id = ?
       ORDER BY sequence LIMIT 1`,
    );
    this.#load = database.prepare(
      `SELECT sequence, id, attributes, CASE WHEN sequence IN (SELECT value FROM json_each(?)) THEN NULL ELSE data END AS data
       FROM events WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence`,
    );
  }

  /** Records events in one transaction: all of them are on disk when it returns, none when it throws. */
  append(events: readonly NewEvent[]): Appended[] {
    this.#begin.run();
    try {
      const appended = events.map((event) => this.#record(event));
      this.#commit.run();
      return appended;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #record(event: NewEvent): Appended {
    const { id, source, idempotencyKey = null, webhookId = null, attributes, arrival, data = null } = event;
    const { changes } = this.#insert.run(
      id,
      source,
      idempotencyKey,
      webhookId,
      wireBytes(attributes) + SEQUENCE_MEMBER_BYTES,
      data === null ? 0 : wireBytes(data) + 1,
      attributes,
      arrival,
      data,
    );
    if (changes === 1) return { id, recorded: true };
    const first = this.#findFirst.get(id, source, idempotencyKey, webhookId) as { id: string };
    return { id: first.id, recorded: false };
  }

  /** Reads events as `EventLog.read` promises. Sizes are looked at first, so that what does not fit is never loaded. */
  read(query: EventQuery): LoggedEvent[] {
    const { kept, omitted } = this.#select(query);
    const rows = this.#load.all(JSON.stringify([...omitted]), JSON.stringify(kept)) as EventRow[];
    return rows.map(({ sequence, id, attributes, data }) => ({
      id,
      sequence: String(sequence).padStart(SEQUENCE_DIGITS, '0'),
      attributes,
      data: data ?? undefined,
      dataOmitted: omitted.has(sequence),
    }));
  }

  /** Which events fit, and which of them only without their data. */
  #select(query: EventQuery): { kept: number[]; omitted: Set<number> } {
    const kept: number[] = [];
    const omitted = new Set<number>();
    let room = query.maxBytes;
    for (const { sequence, id, head_bytes, data_bytes } of this.#sizes(query)) {
      const wanted = query.id !== undefined && kept.length === 0;
      const whole = head_bytes + data_bytes + 1;
      const oversized = !wanted && whole > query.maxBytes;
      const bytes = oversized ? head_bytes + query.referenceBytes + PERCENT_ENCODED_UNIT_BYTES * id.length + 1 : whole;
      if (!wanted && bytes > room) break;
      room -= bytes;
      kept.push(sequence);
      if (oversized) omitted.add(sequence);
    }
    return { kept, omitted };
  }

  #sizes({ id, after, limit }: EventQuery): SizeRow[] {
    const values: (string | number)[] = [];
    if (id !== undefined) values.push(id);
    if (after !== undefined) values.push(Number(after > MAX_SEQUENCE ? MAX_SEQUENCE : after));
    return this.#sizeStatement(id !== undefined, after !== undefined).all(...values, limit) as SizeRow[];
  }

  #sizeStatement(byId: boolean, byPosition: boolean): Database.Statement {
    const where = [...(byId ? ['id = ?'] : []), ...(byPosition ? ['sequence > ?'] : [])].join(' AND ');
    const sql = `SELECT sequence, id, head_bytes, data_bytes FROM events ${where && `WHERE ${where}`}
                 ORDER BY sequence ${byPosition ? 'ASC' : 'DESC'} LIMIT ?`;
    const statement = this.#sizeStatements.get(sql) ?? this.#database.prepare(sql);
    this.#sizeStatements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#database.close();
  }
}

function retryWhileLocked(milliseconds: number, action: () => void): void {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    try {
      action();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
