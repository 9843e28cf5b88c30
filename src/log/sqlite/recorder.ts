import type { Statement } from './binding';
import { PackedEvents } from './batch';
import type { SqliteConnection } from './connection/connection';
import { SqliteInsertion, type RecordedEvents } from './insertion';
import { Probe } from './probe';

/** Bytes that a row takes beside its texts, with its entries in the indexes: the probe writes that much more. */
const ROW_BYTES = 4096;

/** Records events. */
export class SqliteRecorder {
  readonly #connection: SqliteConnection;
  readonly #insertion: SqliteInsertion;
  readonly #probe: Probe;
  readonly #newest: Statement;
  readonly #add: Statement;
  /** The room that the events of the last call needed, if it failed, in bytes. */
  #failed: number | undefined;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#insertion = new SqliteInsertion(connection);
    this.#probe = new Probe(connection);
    this.#newest = connection.prepare('SELECT newest_at AS "newestAt" FROM totals');
    this.#add = connection.prepare('UPDATE totals SET events = events + ?, newest_at = ?');
  }

  /**
   * Records events that {@link packEvents} has packed, in one transaction: all of them are on disk when it returns, none when
   * it throws. Says for each batch what came of it.
   */
  append(batches: readonly Uint8Array[]): RecordedEvents[] {
    const packed = batches.map((batch) => new PackedEvents(batch));
    try {
      const recorded = this.#connection.transaction(() => this.#insertAll(packed));
      this.#failed = undefined;
      return recorded;
    } catch (error) {
      this.#failed = packed.reduce((sum, { bytes, count }) => sum + bytes.length + count * ROW_BYTES, 0);
      throw error;
    }
  }

  #insertAll(batches: readonly PackedEvents[]): RecordedEvents[] {
    let { newestAt } = this.#newest.get() as { newestAt: number };
    let added = 0;
    const recorded = batches.map((events) => {
      const result = this.#insertion.insert(events, newestAt);
      for (let i = 0; i < events.count; i++) {
        if (result.firstIds.has(i)) continue;
        newestAt = Math.max(newestAt, events.recordedAt(i));
        added++;
      }
      return result;
    });
    this.#add.run(added, newestAt);
    return recorded;
  }

  /** Returns if events can be recorded: after a call that failed, if as much as it could not write can be written now. */
  check(): void {
    this.#connection.requireFiles();
    if (this.#failed === undefined) return;
    this.#probe.try(this.#failed);
    this.#failed = undefined;
  }
}
