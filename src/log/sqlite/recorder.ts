import { KeyConflict } from '../../events/key-conflict';
import type { NewEvent, StoredEvent } from '../../events/stored-event';
import type { Appended, Retention } from '../engine';
import type { Database } from './database';
import { LAST, TOTAL } from './reader';

const INSERT = `
  INSERT INTO events (recorded_at, id, source, idempotency_key, webhook_id, attributes, arrival, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const FIND_BY_KEY = {
  idempotencyKey: 'SELECT id, attributes, arrival, data FROM events WHERE idempotency_key = ?',
  webhookId: 'SELECT id, attributes, arrival, data FROM events WHERE webhook_id = ?',
};

const FIND_FIRST_ID = `
  SELECT id FROM events WHERE (id = ? AND source = ?) OR idempotency_key = ? OR webhook_id = ? ORDER BY sequence LIMIT 1`;

/** The bytes of the large texts of an event. They are in the rows' headers: no text is loaded for them. */
const BYTES = 'octet_length(attributes) + octet_length(arrival) + ifnull(octet_length(data), 0)';

/** How long a check waits for a lock, in milliseconds: shorter than its caller waits. */
const CHECK_PATIENCE = 500;

/** Maximum events that a step of retention deletes, and maximum bytes, unless a single event has more: writers wait for a step. */
const STEP_EVENTS = 64;
const STEP_BYTES = 512 * 1024;

/** An event as `INSERT` takes it. Between threads, arrays take less time than objects. */
type NewRow = readonly [
  recordedAt: number,
  id: string,
  source: string,
  idempotencyKey: string | null,
  webhookId: string | null,
  attributes: string,
  arrival: string,
  data: string | null,
];

export function rowOf(event: NewEvent): NewRow {
  const { recordedAt, id, source, attributes, arrival } = event;
  const { idempotencyKey = null, webhookId = null, data = null } = event;
  return [recordedAt, id, source, idempotencyKey, webhookId, attributes, arrival, data];
}

/** Events, and for how many milliseconds they have waited already. */
export interface Given {
  readonly events: readonly NewRow[];
  readonly waited: number;
}

/** As `Recorded`, for the other thread: undefined stands for a new event. */
export interface Committed {
  readonly repeated: readonly (Appended | undefined)[];
  readonly newest: number | undefined;
}

export class SqliteRecorder {
  readonly #database: Database;
  /** The events of the last call to `append`, if it failed. */
  #failed: readonly NewRow[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** Records events in one transaction: all of them are on disk when it resolves, none when it rejects. */
  async append({ events, waited }: Given): Promise<Committed> {
    try {
      const recorded = await this.#database.write(() => this.#insertAll(events), this.#database.busyTimeout - waited);
      this.#failed = [];
      return recorded;
    } catch (error) {
      this.#failed = events;
      throw error;
    }
  }

  #insertAll(events: readonly NewRow[]): Committed {
    const insert = this.#database.prepare(INSERT);
    let newest: number | undefined;
    let recorded = 0;
    const repeated = events.map((event) => {
      const { changes, lastInsertRowid } = insert.run(...event);
      if (changes === 0) return this.#first(event);
      newest = Number(lastInsertRowid);
      recorded++;
      return undefined;
    });
    this.#addToTotal(recorded);
    return { repeated, newest };
  }

  /** Finds the event that keeps another from being recorded. */
  #first(row: NewRow): Appended {
    const [, id, source, idempotencyKey, webhookId] = row;
    const conflict =
      this.#conflict('idempotencyKey', idempotencyKey, row) ?? this.#conflict('webhookId', webhookId, row);
    if (conflict !== undefined) return conflict;
    const first = this.#database.prepare(FIND_FIRST_ID).get(id, source, idempotencyKey, webhookId);
    return { id: (first as { id: string }).id, recorded: false };
  }

  /** Finds the event that has a key of another one, and is not the same. */
  #conflict(key: KeyConflict['key'], value: string | null, row: NewRow): Appended | undefined {
    const [, , , , , attributes, arrival, data] = row;
    const first = this.#database.prepare(FIND_BY_KEY[key]).get(value) as
      { id: string; attributes: string; arrival: string; data: string | null } | undefined;
    const conflict = first && KeyConflict.between(key, { attributes, arrival, data }, first);
    return conflict && { id: first.id, recorded: false, conflict };
  }

  #addToTotal(events: number): void {
    this.#database.prepare('UPDATE totals SET events = events + ?').run(events);
  }

  /**
   * Resolves if events can be recorded. Commits those of the last call, if that failed, in a transaction that also deletes them: with
   * `secure_delete` it writes every page that they need.
   */
  async check(): Promise<void> {
    await this.#database.write(() => {
      const last = this.#database.number(LAST);
      this.#insertAll(this.#failed);
      const { changes } = this.#database.prepare('DELETE FROM events WHERE sequence > ?').run(last);
      this.#addToTotal(-changes);
      this.#database.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'").run(last);
    }, CHECK_PATIENCE);
    this.#failed = [];
  }

  /** Resolves to the positions that had an event. */
  forget(positions: readonly number[]): Promise<number[]> {
    return this.#database.write(() => this.#delete(positions));
  }

  #delete(positions: readonly number[]): number[] {
    const sql = 'DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?)) RETURNING sequence AS position';
    const rows = this.#database.prepare(sql).all(JSON.stringify(positions)) as Pick<StoredEvent, 'position'>[];
    this.#addToTotal(-rows.length);
    return rows.map(({ position }) => position);
  }

  /** Deletes some events past retention. Resolves to whether there were any. */
  async retain(retention: Retention): Promise<boolean> {
    if ((await this.#database.read(() => this.#due(retention))).length === 0) return false;
    // Another process may have taken the step before the lock was free.
    await this.#database.write(() => this.#delete(this.#due(retention)));
    return true;
  }

  /** The positions that the next step of retention deletes. */
  #due({ maxEvents = Infinity, maxAge = Infinity }: Retention): number[] {
    const columns = `SELECT sequence AS position, ${BYTES} AS bytes FROM events`;
    const events = this.#database.number(TOTAL);
    const rows = (
      events > maxEvents
        ? this.#database.prepare(`${columns} ORDER BY sequence LIMIT ?`).all(Math.min(events - maxEvents, STEP_EVENTS))
        : this.#database
            .prepare(`${columns} WHERE recorded_at < ? ORDER BY recorded_at, sequence LIMIT ?`)
            .all(Date.now() - maxAge, STEP_EVENTS)
    ) as { readonly position: number; readonly bytes: number }[];
    let bytes = 0;
    const end = rows.findIndex((row, i) => (bytes += row.bytes) > STEP_BYTES && i > 0);
    return rows.slice(0, end === -1 ? rows.length : end).map(({ position }) => position);
  }
}
