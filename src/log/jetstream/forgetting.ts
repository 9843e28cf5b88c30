import type { NewEvent } from '../../events/stored-event';
import type { Progress } from '../event-log';
import { sequenceNumber } from '../page';
import type { JetStreamConnection } from './connection';
import type { JetStreamIds } from './ids';
import type { JetStreamReader } from './reader';
import type { StreamNames } from './schema';
import type { JetStreamStore } from './store';
import { keysOf, keySubject } from './subjects';

/** Removes events so that the files of the servers do not hold them any more. */
export class JetStreamForgetting {
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #reader: JetStreamReader;
  readonly #ids: JetStreamIds;

  constructor(
    connection: JetStreamConnection,
    names: StreamNames,
    store: JetStreamStore,
    reader: JetStreamReader,
    ids: JetStreamIds,
  ) {
    this.#connection = connection;
    this.#names = names;
    this.#store = store;
    this.#reader = reader;
    this.#ids = ids;
  }

  /** As `EventLog.forget`. */
  async forget(positions: readonly bigint[], progress: Progress): Promise<bigint[]> {
    const forgotten: bigint[] = [];
    for (const [i, position] of positions.entries()) {
      const placed = await this.#reader.at(sequenceNumber(position), this.#connection.deadline());
      if (placed !== undefined) {
        // The event goes last: while it is there, the rest can be found again after a failure.
        await this.#eraseKeys(placed.event);
        await this.#ids.erase(placed.event);
        await this.#store.erase(this.#names.events, placed.sequence, this.#connection.deadline());
        forgotten.push(position);
      }
      progress(i + 1, positions.length);
    }
    return forgotten;
  }

  /** Erases the claims of the event's keys, which hold copies of it, and the references to it. */
  async #eraseKeys(event: NewEvent): Promise<void> {
    const { keys } = this.#names;
    for (const key of keysOf(event)) await this.#store.eraseAll(keys, keySubject(keys, key), () => true);
  }
}
