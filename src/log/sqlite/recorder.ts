import type { Appended } from '../event-log';
import { unpackEvents, type PackedEvent } from './batch';
import type { Statement } from './binding';
import type { SqliteConnection } from './connection';
import { FIND_BY_IDEMPOTENCY_KEY, FIND_FIRST_ID, insertEvent, MINUTE, minuteOf, rowOf, type StoredRow } from './schema';
import { isRepetition } from '../engine';

/** The results of recording a batch of events. */
export interface RecordedEvents {
  /** The results for those that were not recorded, by their places in the batch. */
  readonly others: ReadonlyMap<number, Appended>;
  /** The position of the last one that was recorded; undefined where all were repetitions. */
  readonly newest: number | undefined;
}

/** Additions of a transaction to a row of `minutes`. */
interface MinuteCount {
  events: number;
  readonly first: number;
  last: number;
  milliseconds: number;
}

/** Bytes that a row takes beside its texts, with its entries in the indexes: a check writes that much more. */
const ROW_BYTES = 4096;

/** How long a check waits for another program's lock, in milliseconds: shorter than its caller waits. */
const CHECK_BUSY_TIMEOUT = 500;

/** Records and deletes events, and keeps their counts: in all and in each minute. */
export class SqliteRecorder {
  readonly #connection: SqliteConnection;
  readonly #insert: Statement;
  /** The batches of the last call, if it failed. */
  #failed: readonly Uint8Array[] | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#insert = connection.prepare(connection.reading(() => insertEvent(connection)));
  }

  /**
   * Records events that `packEvents` has packed, in one transaction: all of them are on disk when it returns, none when it
   * throws. Returns what came of each batch.
   */
  append(batches: readonly Uint8Array[]): RecordedEvents[] {
    const unpacked = batches.map(unpackEvents);
    try {
      const recorded = this.#connection.transaction(() => this.#record(unpacked), batches);
      this.#failed = undefined;
      return recorded;
    } catch (error) {
      this.#failed = batches;
      throw error;
    }
  }

  #record(batches: readonly (readonly PackedEvent[])[]): RecordedEvents[] {
    const minutes = new Map<number, MinuteCount>();
    const results = batches.map((events) => this.#insertAll(events, minutes));
    this.#count(minutes);
    return results;
  }

  /** Inserts the events of a batch, but for those that are in the log, and notes them in `minutes`. */
  #insertAll(events: readonly PackedEvent[], minutes: Map<number, MinuteCount>): RecordedEvents {
    const others = new Map<number, Appended>();
    let newest: number | undefined;
    for (const [i, event] of events.entries()) {
      // The texts stay the bytes that they are in the batch.
      const { changes, lastInsertRowid } = this.#insert.run(...rowOf(event));
      if (changes === 0) {
        others.set(i, this.#first(event));
      } else {
        newest = Number(lastInsertRowid);
        note(minutes, event.recordedAt, newest);
      }
    }
    return { others, newest };
  }

  /** Finds the event that keeps another from being recorded. */
  #first(event: PackedEvent): Appended {
    const { id, source, idempotencyKey, webhookId } = event;
    const sameKey = this.#connection.prepare(FIND_BY_IDEMPOTENCY_KEY).get(idempotencyKey) as SameKey | undefined;
    if (sameKey !== undefined) {
      const texts = { attributes: textOf(event.attributes) ?? '', data: textOf(event.data) };
      if (!isRepetition(texts, { ...sameKey, data: sameKey.data ?? undefined }))
        return { id: sameKey.id, recorded: false, conflict: true };
    }
    const first = this.#connection.prepare(FIND_FIRST_ID).get(id, source, idempotencyKey, webhookId);
    return { id: (first as { id: string }).id, recorded: false };
  }

  #count(minutes: ReadonlyMap<number, MinuteCount>): void {
    const add = this.#connection.prepare(
      `INSERT INTO minutes VALUES (?, ?, ?, ?, ?) ON CONFLICT (minute) DO UPDATE SET
       events = events + excluded.events, first = min(first, excluded.first), last = max(last, excluded.last),
       milliseconds = milliseconds + excluded.milliseconds`,
    );
    let total = 0;
    for (const [minute, { events, first, last, milliseconds }] of minutes) {
      add.run(minute, events, first, last, milliseconds);
      total += events;
    }
    if (total > 0) this.#addToTotal(total);
  }

  /** Deletes events, with their keys and counts, in the transaction of its caller. Returns the positions that had an event. */
  delete(positions: readonly number[]): Set<number> {
    const rows = this.#connection
      .prepare(
        `DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?))
         RETURNING sequence, recorded_at AS "recordedAt"`,
      )
      .all(JSON.stringify(positions)) as { sequence: number; recordedAt: number }[];
    this.#discount(rows.map(({ recordedAt }) => recordedAt));
    return new Set(rows.map(({ sequence }) => sequence));
  }

  #discount(times: readonly number[]): void {
    const subtract = this.#connection.prepare(
      'UPDATE minutes SET events = events - ?, milliseconds = milliseconds - ? WHERE minute = ?',
    );
    const remove = this.#connection.prepare('DELETE FROM minutes WHERE minute = ? AND events <= 0');
    for (const minute of new Set(times.map(minuteOf))) {
      const offsets = times.filter((time) => minuteOf(time) === minute).map((time) => time - minute * MINUTE);
      const milliseconds = offsets.reduce((sum, offset) => sum + offset, 0);
      subtract.run(offsets.length, milliseconds, minute);
      remove.run(minute);
    }
    if (times.length > 0) this.#addToTotal(-times.length);
  }

  #addToTotal(events: number): void {
    this.#connection.prepare('UPDATE totals SET events = events + ?').run(events);
  }

  /** Returns if events can be recorded: after a call that failed, if the same events can be now. */
  check(): void {
    this.#connection.files.require();
    if (this.#failed === undefined) return;
    const unpacked = this.#failed.map(unpackEvents);
    const bytes = this.#failed.reduce((sum, { length }) => sum + length, 0);
    const rows = unpacked.reduce((sum, { length }) => sum + length, 0);
    this.#connection.setBusyTimeout(CHECK_BUSY_TIMEOUT);
    try {
      this.#probe(bytes + rows * ROW_BYTES);
      this.#connection.rehearse(() => this.#record(unpacked));
    } finally {
      this.#connection.setBusyTimeout();
    }
    this.#failed = undefined;
  }

  /**
   * Returns when `bytes` could be written, in the write-ahead log and in the database file. Their room is kept free in both: on
   * a disk that is nearly full, what the probe took is there for the next event.
   */
  #probe(bytes: number): void {
    const clear = this.#connection.prepare('DELETE FROM probe');
    this.#connection.transaction(() => {
      clear.run();
      this.#connection.prepare('INSERT INTO probe VALUES (zeroblob(?))').run(bytes);
    });
    this.#connection.transaction(() => clear.run());
    this.#connection.execute('PRAGMA wal_checkpoint(RESTART)');
  }
}

/** A row of `FIND_BY_IDEMPOTENCY_KEY`. */
type SameKey = Pick<StoredRow, 'id' | 'attributes' | 'data'>;

function textOf(bytes: Uint8Array | null): string | undefined {
  return bytes === null ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** Notes an event in the count of its minute. Positions must grow. */
function note(minutes: Map<number, MinuteCount>, recordedAt: number, position: number): void {
  const minute = minuteOf(recordedAt);
  const milliseconds = recordedAt - minute * MINUTE;
  const count = minutes.get(minute);
  if (count === undefined) minutes.set(minute, { events: 1, first: position, last: position, milliseconds });
  else {
    count.events++;
    count.last = position;
    count.milliseconds += milliseconds;
  }
}
