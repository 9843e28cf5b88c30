import type Database from 'libsql';
import type { NewEvent } from '../event-log';
import type { SqliteConnection } from './connection/connection';
import { Probe } from './probe';
import { FIND_FIRST_ID, INSERT_EVENT, keysOf, rowOf } from './table';

/** Bytes that a row takes beside its texts, with its entries in the indexes: the probe writes that much more. */
const ROW_BYTES = 4096;

/** What came of recording some events. */
export interface RecordedEvents {
  /** The first ids of those that were in the log before, by their places among the events. */
  readonly firstIds: ReadonlyMap<number, string>;
  /** The position of the last one that was recorded; undefined: none was. */
  readonly newest: number | undefined;
}

/** Records events. */
export class SqliteRecorder {
  readonly #connection: SqliteConnection;
  readonly #insert: Database.Statement;
  readonly #findFirstId: Database.Statement;
  readonly #probe: Probe;
  readonly #newest: Database.Statement;
  readonly #add: Database.Statement;
  /** The events of the last call, if it failed. */
  #failed: readonly NewEvent[] | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#probe = new Probe(connection);
    this.#insert = connection.prepare(INSERT_EVENT);
    this.#findFirstId = connection.prepare(FIND_FIRST_ID);
    this.#newest = connection.prepare('SELECT newest_at AS "newestAt" FROM totals');
    this.#add = connection.prepare('UPDATE totals SET events = events + ?, newest_at = ?');
  }

  /** Records events in one transaction: all of them are on disk when it returns, none when it throws. */
  append(events: readonly NewEvent[]): RecordedEvents {
    try {
      const recorded = this.#connection.transaction(() => this.#insertAll(events));
      this.#failed = undefined;
      return recorded;
    } catch (error) {
      this.#failed = events;
      throw error;
    }
  }

  #insertAll(events: readonly NewEvent[]): RecordedEvents {
    const firstIds = new Map<number, string>();
    let newest: number | undefined;
    let { newestAt } = this.#newest.get() as { newestAt: number };
    events.forEach((event, i) => {
      const { changes, lastInsertRowid } = this.#insert.run(rowOf(event, newestAt));
      if (changes === 1) {
        newestAt = Math.max(newestAt, event.recordedAt);
        newest = Number(lastInsertRowid);
      } else firstIds.set(i, (this.#findFirstId.get(keysOf(event)) as { id: string }).id);
    });
    this.#add.run(events.length - firstIds.size, newestAt);
    return { firstIds, newest };
  }

  /** Returns if events can be recorded: after a call that failed, if as much as it could not write can be written now. */
  check(): void {
    this.#connection.requireFiles();
    if (this.#failed === undefined) return;
    this.#probe.try(bytesOf(this.#failed));
    this.#failed = undefined;
  }
}

function bytesOf(events: readonly NewEvent[]): number {
  const texts = events.map((event) =>
    rowOf(event, 0).reduce<number>((sum, value) => sum + textBytes(value), ROW_BYTES),
  );
  return texts.reduce((sum, bytes) => sum + bytes, 0);
}

function textBytes(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}
