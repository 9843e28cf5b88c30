import type { NewEvent, StoredEvent } from '../../events/stored-event';
import { isRepetition, type Appended, type Recorded, type Retention } from '../engine';
import type { Database } from './database';
import { TOTAL } from './reader';

const INSERT = `
  INSERT INTO events (recorded_at, id, source, idempotency_key, webhook_id, attributes, arrival, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const FIND_BY_IDEMPOTENCY_KEY = 'SELECT id, attributes, data FROM events WHERE idempotency_key = ?';

/** Finds the first event that has one of the keys of another: its id and source, its idempotency key, its webhook id. */
const FIND_FIRST_ID = `
  SELECT id FROM events WHERE (id = ? AND source = ?) OR idempotency_key = ? OR webhook_id = ? ORDER BY sequence LIMIT 1`;

/** The bytes of the large texts of an event. They are in the rows' headers: no text is loaded for them. */
export const BYTES = 'octet_length(attributes) + octet_length(arrival) + ifnull(octet_length(data), 0)';

/** Bytes that are tried for each text of an event besides its own: a row takes pages, and entries in the indexes. */
const ROW_BYTES = 2048;

/** How long a check waits for a lock, in milliseconds: shorter than its caller waits. */
const CHECK_PATIENCE = 500;

/** Maximum events that a step of retention deletes, and maximum bytes, unless a single event has more: writers wait for a step. */
const STEP_EVENTS = 64;
const STEP_BYTES = 512 * 1024;

/** Records and deletes events, and keeps their number. */
export class SqliteRecorder {
  readonly #database: Database;
  /** The events of the last call that recorded, if it failed. */
  #failed: readonly NewEvent[] = [];

  constructor(database: Database) {
    this.#database = database;
  }

  /** Records events in one transaction: all of them are on disk when it returns, none when it throws. */
  append(events: readonly NewEvent[]): Recorded {
    try {
      const recorded = this.#database.write(() => this.#insertAll(events));
      this.#failed = [];
      return recorded;
    } catch (error) {
      this.#failed = events;
      throw error;
    }
  }

  #insertAll(events: readonly NewEvent[]): Recorded {
    const insert = this.#database.prepare(INSERT);
    let newest: number | undefined;
    let recorded = 0;
    const appended = events.map((event): Appended => {
      const {
        recordedAt,
        id,
        source,
        idempotencyKey = null,
        webhookId = null,
        attributes,
        arrival,
        data = null,
      } = event;
      const { changes, lastInsertRowid } = insert.run(
        ...[recordedAt, id, source, idempotencyKey, webhookId, attributes, arrival, data],
      );
      if (changes === 0) return this.#first(event);
      newest = Number(lastInsertRowid);
      recorded++;
      return { id, recorded: true };
    });
    this.#addToTotal(recorded);
    return { appended, newest };
  }

  /** Finds the event that keeps another from being recorded. */
  #first(event: NewEvent): Appended {
    const { id, source, idempotencyKey = null, webhookId = null } = event;
    const sameKey = this.#database.prepare(FIND_BY_IDEMPOTENCY_KEY).get(idempotencyKey) as
      { id: string; attributes: string; data: string | null } | undefined;
    if (sameKey !== undefined && !isRepetition(event, { ...sameKey, data: sameKey.data ?? undefined }))
      return { id: sameKey.id, recorded: false, conflict: true };
    const first = this.#database.prepare(FIND_FIRST_ID).get(id, source, idempotencyKey, webhookId);
    return { id: (first as { id: string }).id, recorded: false };
  }

  #addToTotal(events: number): void {
    if (events !== 0) this.#database.prepare('UPDATE totals SET events = events + ?').run(events);
  }

  /** Returns if events can be recorded, those of the last call included if that failed. Commits as many bytes as they have. */
  check(): void {
    if (this.#failed.length > 0) this.#rehearse(this.#failed);
    const texts = this.#failed.flatMap(({ attributes, arrival, data = '' }) => [attributes, arrival, data]);
    const room = texts.reduce((bytes, text) => bytes + ROW_BYTES + Buffer.byteLength(text), 0);
    this.#database.write(() => {
      if (room === 0) this.#database.prepare('UPDATE totals SET events = events').run();
      else this.#database.prepare('INSERT INTO probe VALUES (zeroblob(?))').run(room);
    }, CHECK_PATIENCE);
    if (room > 0) this.#database.write(() => this.#database.prepare('DELETE FROM probe').run());
    this.#failed = [];
  }

  /** Records events and takes that back. */
  #rehearse(events: readonly NewEvent[]): void {
    const isOver = new Error('the rehearsal is over');
    try {
      this.#database.write(() => {
        this.#insertAll(events);
        throw isOver;
      }, CHECK_PATIENCE);
    } catch (error) {
      if (error !== isOver) throw error;
    }
  }

  /** Deletes events, with their keys, and returns the positions that had one. */
  forget(positions: readonly number[]): number[] {
    return this.#database.write(() => this.#delete(positions));
  }

  #delete(positions: readonly number[]): number[] {
    const sql = 'DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?)) RETURNING sequence AS position';
    const rows = this.#database.prepare(sql).all(JSON.stringify(positions)) as Pick<StoredEvent, 'position'>[];
    this.#addToTotal(-rows.length);
    return rows.map(({ position }) => position);
  }

  /** Deletes some of the events that are past retention. Returns whether there were any. */
  retain(retention: Retention): boolean {
    if (this.#database.read(() => this.#due(retention)).length === 0) return false;
    // Under the lock it may look different: another process may have taken the step.
    this.#database.write(() => this.#delete(this.#due(retention)));
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
