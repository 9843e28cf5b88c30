import type { Statement } from './binding';
import type { SqliteConnection } from './connection/connection';
import { MinuteCounts } from './minutes';
import { FIND_FIRST_ID, INSERT_EVENT, KEY_PROPERTIES, rowOf } from './table';
import { unpackEvents, type PackedEvent } from './thread/batch';

/** What came of recording a batch of events. */
export interface RecordedEvents {
  /** The first ids of those that were in the log before, by their places in the batch. */
  readonly firstIds: ReadonlyMap<number, string>;
  /** The position of the last one that was recorded; undefined where all were repetitions. */
  readonly newest: number | undefined;
}

/** Bytes that a row takes beside its texts, with its entries in the indexes: a check writes that much more. */
const ROW_BYTES = 4096;

/** How long a check waits for another program's lock, in milliseconds: shorter than its caller waits. */
const CHECK_BUSY_TIMEOUT = 500;

/** Records events. */
export class SqliteRecorder {
  readonly #connection: SqliteConnection;
  readonly #minutes: MinuteCounts;
  readonly #insert: Statement;
  readonly #findFirstId: Statement;
  readonly #fillProbe: Statement;
  readonly #clearProbe: Statement;
  /** The room that the events of the last call needed, if it failed, in bytes. */
  #failed: number | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#minutes = new MinuteCounts(connection);
    this.#insert = connection.prepare(INSERT_EVENT);
    this.#findFirstId = connection.prepare(FIND_FIRST_ID);
    this.#fillProbe = connection.prepare('INSERT INTO probe VALUES (zeroblob(?))');
    this.#clearProbe = connection.prepare('DELETE FROM probe');
  }

  /**
   * Records events that `packEvents` has packed, in one transaction: all of them are on disk when it returns, none when it
   * throws. Returns what came of each batch.
   */
  append(batches: readonly Uint8Array[]): RecordedEvents[] {
    const unpacked = batches.map(unpackEvents);
    try {
      const recorded = this.#connection.transaction(() => {
        const results = unpacked.map((events) => this.#insertAll(events));
        this.#minutes.write();
        return results;
      }, batches);
      this.#failed = undefined;
      return recorded;
    } catch (error) {
      this.#minutes.discard();
      this.#failed = unpacked.reduce((sum, { length }, i) => sum + (batches[i]?.length ?? 0) + length * ROW_BYTES, 0);
      throw error;
    }
  }

  /** Inserts the events of a batch, but for those that are in the log. */
  #insertAll(events: readonly PackedEvent[]): RecordedEvents {
    const firstIds = new Map<number, string>();
    let newest: number | undefined;
    for (const [i, event] of events.entries()) {
      // The texts stay the bytes that they are in the batch.
      const { changes, lastInsertRowid } = this.#insert.run(...rowOf(event));
      if (changes === 0) {
        const { id } = this.#findFirstId.get(...KEY_PROPERTIES.map((property) => event[property])) as { id: string };
        firstIds.set(i, id);
      } else {
        newest = Number(lastInsertRowid);
        this.#minutes.note(event.recordedAt, newest);
      }
    }
    return { firstIds, newest };
  }

  /** Returns if events can be recorded: after a call that failed, if as much as it could not write can be written now. */
  check(): void {
    this.#connection.requireFiles();
    if (this.#failed === undefined) return;
    this.#probe(this.#failed);
    this.#failed = undefined;
  }

  /**
   * Returns when `bytes` could be written, in the write-ahead log and in the database file. Their room is kept free in both: on
   * a disk that is nearly full, what the probe took is there for the next event.
   */
  #probe(bytes: number): void {
    this.#connection.setBusyTimeout(CHECK_BUSY_TIMEOUT);
    try {
      this.#connection.transaction(() => {
        this.#clearProbe.run();
        this.#fillProbe.run(bytes);
      });
      this.#connection.transaction(() => this.#clearProbe.run());
      this.#connection.execute('PRAGMA wal_checkpoint(RESTART)');
    } finally {
      this.#connection.setBusyTimeout();
    }
  }
}
