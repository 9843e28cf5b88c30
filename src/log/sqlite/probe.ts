import type { Statement } from './binding';
import type { SqliteConnection } from './connection/connection';

/** How long the probe waits for another program's lock, in milliseconds: shorter than whoever asks for it waits. */
const BUSY_TIMEOUT = 500;

/** Tries whether the database can take an event, without recording one. */
export class Probe {
  readonly #connection: SqliteConnection;
  readonly #write: Statement;
  readonly #clear: Statement;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#write = connection.prepare('INSERT INTO probe VALUES (zeroblob(?))');
    this.#clear = connection.prepare('DELETE FROM probe');
  }

  /**
   * Returns when so many bytes could be written, in the write-ahead log and in the database file. Their room is kept free in
   * both: on a disk that is nearly full, what the probe took is there for the next event.
   *
   * @throws why they could not be written.
   */
  try(bytes: number): void {
    this.#connection.setBusyTimeout(BUSY_TIMEOUT);
    try {
      this.#connection.transaction(() => {
        this.#clear.run();
        this.#write.run(bytes);
      });
      this.#connection.transaction(() => this.#clear.run());
      this.#connection.execute('PRAGMA wal_checkpoint(RESTART)');
    } finally {
      this.#connection.setBusyTimeout();
    }
  }
}
