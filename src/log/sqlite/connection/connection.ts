import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isBusy, openDatabase, type Database, type Statement } from '../binding';
import type { Retention } from '../../event-log';
import { pause } from '../../../util/time';
import { DatabaseFiles, LostFileError } from './files';
import { provideSchema } from '../schema';
import { MarksReader, readMarks, Stamps, WRITE_STAMP, type Marks } from './stamp';
import { Transactions } from './transaction';

/** How a SQLite event log is opened. */
export interface SqliteOptions {
  /** Path of the database file. It is created where it is missing; its folder must exist. */
  readonly file: string;
  /** How long a call waits for another program that holds the database's lock, in milliseconds. */
  readonly busyTimeout: number;
  /** Most pages (4,096 bytes each) that the database may grow to; undefined: as many as the disk holds. */
  readonly maxPages?: number;
  /** Which events are forgotten; undefined: none. */
  readonly retention?: Retention;
  /** How long retention pauses when nothing is due, in milliseconds. */
  readonly retentionPause: number;
}

/** What the write-ahead log shrinks to once it has been written back, in bytes. */
const WAL_BYTES = 16 * 1024 * 1024;

/** How long readers may hold up the emptying of the write-ahead log, while writers wait, in milliseconds. */
const EMPTY_WAL_BUSY_TIMEOUT = 50;

/** How long another process may take to finish its commit and to notice that a file was lost, in milliseconds. */
const OTHERS_NOTICE = 250;

/** How long a connection whose file was lost waits for others before it gives up saving its events, in milliseconds. */
const RESCUE_BUSY_TIMEOUT = 500;

/** The one connection of a database thread: opens the files, runs transactions, and notices when a file is lost. */
export class SqliteConnection {
  readonly #options: SqliteOptions;
  readonly #database: Database;
  readonly #files: DatabaseFiles;
  readonly #transactions: Transactions;
  readonly #stamps = new Stamps();
  readonly #readMarks: Statement;
  readonly #writeStamp: Statement;
  readonly #emptyWal: Statement;

  /**
   * @throws the database cannot be opened, is not a database, or not one of this program and version; or the write-ahead log
   * beside it belongs to another file.
   */
  constructor(options: SqliteOptions) {
    const file = resolve(options.file);
    const marksReader = new MarksReader();
    marksReader.requirePair(existsSync(file) ? realpathSync(file) : file);
    const database = openDatabase(file);
    this.#options = options;
    this.#database = database;
    this.setBusyTimeout(options.busyTimeout);
    // Where two processes make the same new file, one is told "locked" without waiting.
    retryWhileLocked(options.busyTimeout, () => {
      provideSchema(database, this.#stamps.next());
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    });
    database.exec(`PRAGMA journal_size_limit = ${String(WAL_BYTES)}`);
    // What is deleted, by retention too, is overwritten. Off by default in SQLite.
    database.exec('PRAGMA secure_delete = ON');
    if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${String(options.maxPages)}`);
    this.#transactions = new Transactions(database);
    this.#readMarks = this.prepare(readMarks());
    this.#writeStamp = this.prepare(WRITE_STAMP);
    this.#emptyWal = this.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
    // The first read makes the write-ahead log where there is none.
    this.#marks();
    this.#files = new DatabaseFiles(file, marksReader, () => this.#marks());
  }

  prepare(sql: string): Statement {
    return this.#database.prepare(sql);
  }

  execute(sql: string): void {
    this.#database.exec(sql);
  }

  setBusyTimeout(milliseconds = this.#options.busyTimeout): void {
    this.execute(`PRAGMA busy_timeout = ${String(milliseconds)}`);
  }

  /**
   * Runs an action that reads the database that is found under its name now.
   *
   * @throws {LostFileError} it is not the one that is open; also what the action throws.
   */
  reading<T>(action: () => T): T {
    this.requireFiles();
    return this.#explaining(action);
  }

  /** As {@link reading}, but the action sees the database as it is at one moment, whatever others write meanwhile. */
  snapshot<T>(action: () => T): T {
    return this.reading(() => this.#transactions.deferred(action));
  }

  /**
   * Runs an action in a transaction of its own: what it writes is on disk when this returns, and none of it when it throws.
   *
   * @throws {LostFileError} the files that are open are not, or not any more, those found under their names; also what the
   * action throws.
   */
  transaction<T>(action: () => T): T {
    this.requireFiles();
    const result = this.#explaining(() =>
      this.#transactions.run(() => {
        const inner = action();
        this.#writeStamp.run(this.#stamps.next());
        return inner;
      }),
    );
    // Whoever opens the file by its name must find what was written.
    this.requireFiles();
    return result;
  }

  /** @throws {LostFileError} the files that are open are not those found under their names. */
  requireFiles(): void {
    this.#files.require();
  }

  /** Says that a file was lost, where that is why an action failed. */
  #explaining<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      this.requireFiles();
      throw error;
    }
  }

  /**
   * Writes the write-ahead log back to the file and empties it. False: a reader still needs it. Writers wait meanwhile, so it
   * is written back without them first, and a reader is not waited for.
   */
  emptyWal(): boolean {
    this.execute('PRAGMA wal_checkpoint(PASSIVE)');
    this.setBusyTimeout(EMPTY_WAL_BUSY_TIMEOUT);
    try {
      return this.reading(() => (this.#emptyWal.get() as { busy: number }).busy === 0);
    } finally {
      this.setBusyTimeout();
    }
  }

  /**
   * Writes all pages anew, which hold nothing but the rows then, and lets the file shrink while it is in use. Others can read
   * meanwhile; writers wait.
   */
  vacuum(): void {
    this.reading(() => {
      this.execute('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
    });
  }

  /** Bytes of the file and of its write-ahead log. */
  bytes(): number {
    return this.#files.bytes();
  }

  /**
   * Closes the database. Where a file was lost, first makes sure that no event is: what only the write-ahead log holds is
   * written to the database file that is open, wherever that is now; and nothing is left that would be taken for a part of
   * the file that is opened next.
   */
  close(): void {
    try {
      this.requireFiles();
      this.#database.close();
    } catch (error) {
      if (!(error instanceof LostFileError)) throw error;
      this.#closeLost(error);
    }
  }

  #closeLost({ loss }: LostFileError): void {
    if (loss === 'overwritten') this.#files.emptyWal();
    else this.#writeBack();
    this.#database.close();
    if (loss !== 'index or write-ahead log') this.#files.remove();
    // Another process may be in the middle of a commit with the lost files. It has to notice, too, before new ones are made.
    pause(OTHERS_NOTICE);
  }

  #writeBack(): void {
    this.setBusyTimeout(RESCUE_BUSY_TIMEOUT);
    try {
      this.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // What cannot be written back stays in the write-ahead log, which is set aside.
    }
  }

  #marks(): Marks {
    return this.#readMarks.get() as Marks;
  }
}

function retryWhileLocked(milliseconds: number, action: () => void): void {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    try {
      action();
      return;
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      pause(10);
    }
  }
}
