import { KeyConflict } from '../../events/key-conflict';
import type { NewEvent, StoredEvent } from '../../events/stored-event';
import type { Appended, Retention } from '../engine';
import { fitting } from '../queries';
import type { Database } from './database';
import { LAST, TOTAL } from './schema';

const INSERT = `
  INSERT INTO events (recorded_at, id, source, idempotency_key, webhook_id, attributes, arrival, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

type FoundByKey = Pick<NewEvent, 'id' | 'attributes' | 'arrival'> & { readonly data: string | null };

/** The bytes of the large texts of an event. They are in the rows' headers: no text is loaded for them. */
const BYTES = 'octet_length(attributes) + octet_length(arrival) + ifnull(octet_length(data), 0)';

/** Maximum events that are deleted in one step, and by retention maximum bytes, unless a single event has more: writers wait for it. */
export const STEP_EVENTS = 64;
const STEP_BYTES = 512 * 1024;

/** An event as `INSERT` takes it. Between threads, arrays take less time than objects. */
export type NewRow = readonly [
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

/** Records and forgets. Its caller runs each method in a transaction. */
export class SqliteRecorder {
  constructor(private readonly database: Database) {}

  /** Returns the outcome of each repetition at its event's index. Sparse, so that hardly anything goes between the threads. */
  insert(events: readonly NewRow[]): (Appended | undefined)[] {
    const insert = this.database.prepare(INSERT);
    const repeats = events.map((event) => (insert.run(...event).changes === 0 ? this.#first(event) : undefined));
    this.#addToTotal(repeats.filter((outcome) => outcome === undefined).length);
    return repeats;
  }

  /** Finds the event that another repeats, or whose key keeps it from being recorded. */
  #first(row: NewRow): Appended {
    const [, id, , idempotencyKey, webhookId, attributes, arrival, data] = row;
    for (const [key, column, value] of [
      ['idempotencyKey', 'idempotency_key', idempotencyKey],
      ['webhookId', 'webhook_id', webhookId],
    ] as const) {
      const find = `SELECT id, attributes, arrival, data FROM events WHERE ${column} = ?`;
      // Without a key it finds none: nothing equals NULL.
      const first = this.database.prepare(find).get(value) as FoundByKey | undefined;
      const conflict = first && KeyConflict.between(key, { attributes, arrival, data }, first);
      if (first) return { id: first.id, recorded: false, conflict };
    }
    return { id, recorded: false };
  }

  #addToTotal(events: number): void {
    this.database.prepare('UPDATE totals SET events = events + ?').run(events);
  }

  /** Records events and deletes them again: with `secure_delete` that writes every page that they need. */
  tryOut(events: readonly NewRow[]): void {
    const last = this.database.number(LAST);
    this.insert(events);
    const { changes } = this.database.prepare('DELETE FROM events WHERE sequence > ?').run(last);
    this.#addToTotal(-changes);
    this.database.prepare("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'").run(last);
  }

  /** Returns the positions that had an event. */
  forget(positions: readonly number[]): number[] {
    const sql = 'DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?)) RETURNING sequence AS position';
    const rows = this.database.prepare(sql).all(JSON.stringify(positions)) as Pick<StoredEvent, 'position'>[];
    this.#addToTotal(-rows.length);
    return rows.map(({ position }) => position);
  }

  /** The positions that the next step of retention deletes. */
  due({ maxEvents = Infinity, maxAge = Infinity }: Retention): number[] {
    const columns = `SELECT sequence AS position, ${BYTES} AS bytes FROM events`;
    const events = this.database.number(TOTAL);
    const rows = (
      events > maxEvents
        ? this.database.prepare(`${columns} ORDER BY sequence LIMIT ?`).all(Math.min(events - maxEvents, STEP_EVENTS))
        : this.database
            .prepare(`${columns} WHERE recorded_at < ? ORDER BY recorded_at, sequence LIMIT ?`)
            .all(Date.now() - maxAge, STEP_EVENTS)
    ) as { readonly position: number; readonly bytes: number }[];
    return fitting(rows, STEP_BYTES, ({ bytes }) => bytes).map(({ position }) => position);
  }
}
