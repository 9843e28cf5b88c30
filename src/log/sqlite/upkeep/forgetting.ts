import type { Statement } from '../binding';
import type { SqliteConnection } from '../connection/connection';
import { sliceDeadline } from '../slice';

/** Removes events and their keys. */
export class SqliteForgetting {
  readonly #connection: SqliteConnection;
  readonly #delete: Statement;
  readonly #subtract: Statement;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#delete = connection.prepare('DELETE FROM events WHERE sequence = ?');
    this.#subtract = connection.prepare('UPDATE totals SET events = events - ?');
  }

  /**
   * Deletes the events at some positions, and with them their keys, until the slice has taken its time. Says of each of the
   * positions that it came to, from the first on, whether there was an event.
   */
  forget(positions: readonly number[]): boolean[] {
    return this.#connection.transaction(() => {
      const deadline = sliceDeadline();
      const deleted: boolean[] = [];
      for (const position of positions) {
        deleted.push(this.#delete.run(position).changes > 0);
        if (performance.now() > deadline) break;
      }
      this.#subtract.run(deleted.filter(Boolean).length);
      return deleted;
    });
  }
}
