import type Database from 'libsql';
import type { EventQuery, LoggedEvent, StoredEvent } from './event-log';
import { Page, SCAN_BYTES } from './page';
import { paddedSequence, sequenceNumber } from './position';

interface StoredRow {
  sequence: number;
  recorded_at: number;
  id: string;
  source: string;
  idempotency_key: string | null;
  webhook_id: string | null;
  attributes: string;
  arrival: string;
  data: string | null;
}

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

/** What is read of a SQLite event log. */
export class SqliteReader {
  readonly #database: Database.Database;
  readonly #load: Database.Statement;
  readonly #scan: Database.Statement;
  readonly #total: Database.Statement;
  readonly #recordedAt: Database.Statement;
  readonly #sizeStatements = new Map<string, Database.Statement>();

  constructor(database: Database.Database) {
    this.#database = database;
    this.#total = database.prepare('SELECT events FROM totals');
    this.#recordedAt = database.prepare(
      'SELECT sequence, recorded_at FROM events WHERE sequence >= ? ORDER BY sequence LIMIT 1',
    );
    this.#scan = database.prepare(
      `SELECT sequence, recorded_at, id, source, idempotency_key, webhook_id, attributes, arrival, data
       FROM events WHERE sequence > ? AND sequence <= ? ORDER BY sequence`,
    );
    this.#load = database.prepare(
      `SELECT sequence, id, attributes, CASE WHEN sequence IN (SELECT value FROM json_each(?)) THEN NULL ELSE data END AS data
       FROM events WHERE sequence IN (SELECT value FROM json_each(?)) ORDER BY sequence`,
    );
  }

  /** Reads events as `EventLog.read` promises. Sizes are looked at first, so that what does not fit is never loaded. */
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

  /** Which events fit, and which of them only without their data. */
  #select(query: EventQuery): { kept: number[]; omitted: Set<number> } {
    const kept: number[] = [];
    const omitted = new Set<number>();
    const page = new Page(query);
    for (const { sequence, id, head_bytes, data_bytes } of this.#sizes(query)) {
      const taken = page.take({ id, headBytes: head_bytes, dataBytes: data_bytes });
      if (taken === 'full') break;
      kept.push(sequence);
      if (taken === 'without data') omitted.add(sequence);
    }
    return { kept, omitted };
  }

  #sizes({ id, after, limit }: Pick<EventQuery, 'after' | 'limit'> & { readonly id?: string | undefined }): SizeRow[] {
    const values: (string | number)[] = [];
    if (id !== undefined) values.push(id);
    if (after !== undefined) values.push(sequenceNumber(after));
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

  /** Reads events as `EventLog.scan` promises. Here too sizes are looked at first. */
  scan({ after, limit }: { readonly after: bigint; readonly limit: number }): StoredEvent[] {
    let last = sequenceNumber(after);
    let bytes = 0;
    for (const [i, row] of this.#sizes({ after, limit }).entries()) {
      bytes += row.head_bytes + row.data_bytes;
      if (i > 0 && bytes > SCAN_BYTES) break;
      last = row.sequence;
    }
    return (this.#scan.all(sequenceNumber(after), last) as StoredRow[]).map(storedEvent);
  }

  /** Finds the position as `EventLog.positionBefore` promises, by halving: times grow with positions. */
  positionBefore(time: number): bigint {
    let from = 0;
    const newest = this.#sizeStatement(false, false).all(1) as SizeRow[];
    let to = newest[0]?.sequence ?? 0;
    // Every event up to `from` is older, every one behind `to` is not.
    while (from < to) {
      const middle = Math.floor((from + to) / 2) + 1;
      const row = this.#recordedAt.get(middle) as { sequence: number; recorded_at: number } | undefined;
      if (row !== undefined && row.sequence <= to && row.recorded_at < time) from = row.sequence;
      else to = middle - 1;
    }
    return BigInt(from);
  }

  count(): number {
    return (this.#total.get() as { events: number }).events;
  }
}

function storedEvent(row: StoredRow): StoredEvent {
  return {
    sequence: paddedSequence(row.sequence),
    recordedAt: row.recorded_at,
    id: row.id,
    source: row.source,
    attributes: row.attributes,
    data: row.data ?? undefined,
    arrival: row.arrival,
    idempotencyKey: row.idempotency_key ?? undefined,
    webhookId: row.webhook_id ?? undefined,
  };
}
