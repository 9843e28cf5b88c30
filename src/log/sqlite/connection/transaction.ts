import type { Database, Statement } from '../binding';

/** The transactions of one connection. Their statements are prepared once: parsing them costs as much as an insert. */
export class Transactions {
  readonly #database: Database;
  readonly #begin: Statement;
  readonly #beginDeferred: Statement;
  readonly #commit: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#beginDeferred = database.prepare('BEGIN');
    this.#commit = database.prepare('COMMIT');
  }

  /**
   * Runs an action in a transaction that holds the write lock from the start: what it writes is on disk when this returns,
   * and none of it when it throws.
   */
  run<T>(action: () => T): T {
    return this.#run(this.#begin, action);
  }

  /**
   * Runs an action that sees the database as it is at one moment, whatever others write meanwhile. The first time that it
   * writes it takes the write lock, or is refused as locked, without waiting, if another has it.
   */
  deferred<T>(action: () => T): T {
    return this.#run(this.#beginDeferred, action);
  }

  #run<T>(begin: Statement, action: () => T): T {
    try {
      begin.run();
      const result = action();
      this.#commit.run();
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}
