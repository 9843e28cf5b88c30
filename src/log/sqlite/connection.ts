import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { HeldBatches } from './batch';
import { openDatabase, requireAlone, retryWhileLocked, type Database, type Statement } from './binding';
import { DatabaseFiles, hasCompanions, makeForOwner, pathOf, requireUsable } from './files/database-files';
import { FileStateReader } from './files/file-state';
import type { SqliteOptions } from './options';
import { provideSchema, readFileState, TransactionIds, WRITE_TRANSACTION_ID, type FileState } from './schema';

const DEFAULT_BUSY_TIMEOUT = 5000;

/** Size to which the write-ahead log shrinks once it has been written back, in bytes. */
const WAL_BYTES = 16 * 1024 * 1024;

/** How long readers may hold up the emptying of the write-ahead log, while writers wait, in milliseconds. */
const EMPTY_WAL_BUSY_TIMEOUT = 50;

/** With this many pages the write-ahead log is written back after a commit. */
const WRITE_BACK_PAGES = 1000;

/** How much may be recorded until these pages are counted again, in bytes: counting takes a tenth of a commit's time. */
const UNCOUNTED_BYTES = 512 * 1024;

/** Bytes that a commit writes besides its events. */
const COMMIT_BYTES = 32 * 1024;

/** The result of `PRAGMA wal_checkpoint`: whether it was blocked, and numbers of pages. */
type Checkpoint = Readonly<Record<'busy' | 'log' | 'checkpointed', number>>;

/** The connection of a database thread: opens the files, runs transactions, and notices when a file is lost. */
export class SqliteConnection {
  readonly files: DatabaseFiles;
  readonly #options: SqliteOptions;
  readonly #busyTimeout: number;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #transactionIds = new TransactionIds();
  /** The batches recorded since the write-ahead log was last written back as a whole. */
  readonly #held = new HeldBatches();
  /** Whether the file has only some of the pages of the write-ahead log, without which it is malformed then. */
  #isHalfWritten = false;
  /** The batches recorded since the pages of the write-ahead log were last counted. */
  #uncountedBytes = 0;

  /**
   * @throws the database cannot be opened, is not a database, or not one of this program and version; or the write-ahead log
   * beside it belongs to another file.
   */
  constructor(options: SqliteOptions) {
    const file = resolve(options.file);
    const path = pathOf(file);
    const stateReader = new FileStateReader();
    requireUsable(path);
    stateReader.requirePair(path);
    makeForOwner(path);
    const database = openDatabase(file);
    this.#options = options;
    this.#database = database;
    this.#busyTimeout = options.busyTimeout ?? DEFAULT_BUSY_TIMEOUT;
    this.setBusyTimeout();
    retryWhileLocked(this.#busyTimeout, () => {
      if (!hasCompanions(path)) {
        stateReader.requireKnown(path);
        requireAlone(database);
      }
      this.#provideLog();
    });
    this.#setUp(options.maxPages);
    // The first read creates a missing write-ahead log.
    this.#fileState();
    this.files = new DatabaseFiles(file, stateReader, () => this.#fileState());
    // A killed process may have left events in the write-ahead log alone, which are not held here.
    this.files.require();
    if (!this.#writesBack()) this.#held.miss();
  }

  /** The schema comes before the write-ahead log: see `provideSchema`. */
  #provideLog(): void {
    this.#inTransaction('BEGIN', () => {
      provideSchema(this.#database, this.#transactionIds.next());
    });
    this.execute('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  }

  #setUp(maxPages: number | undefined): void {
    // Written back only after a look whether the file is still the one at its path.
    this.execute(`PRAGMA journal_size_limit = ${String(WAL_BYTES)}; PRAGMA wal_autocheckpoint = 0`);
    // Overwrites deleted events, also those that retention deletes. Off by default in SQLite.
    this.execute('PRAGMA secure_delete = ON');
    if (maxPages !== undefined) this.execute(`PRAGMA max_page_count = ${String(maxPages)}`);
  }

  /** Prepares a statement, the same text once: parsing it may cost as much as an insert. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  execute(sql: string): void {
    this.#database.exec(sql);
  }

  setBusyTimeout(milliseconds = this.#busyTimeout): void {
    this.execute(`PRAGMA busy_timeout = ${String(milliseconds)}`);
  }

  /**
   * Runs an action that reads.
   *
   * @throws {LostFileError} the database is not the one at its path any more; also what the action throws.
   */
  reading<T>(action: () => T): T {
    this.files.require();
    return this.#explaining(action);
  }

  /** As {@link reading}, but the action sees the database at one moment, whatever others write meanwhile. */
  snapshot<T>(action: () => T): T {
    return this.reading(() => this.#inTransaction('BEGIN', action));
  }

  /**
   * Runs an action in a transaction: what it writes is on disk when this returns, and none of it when it throws.
   *
   * @param recorded - the events that it records, held in case the file is lost.
   * @throws {LostFileError} as {@link reading}; also what the action throws.
   */
  transaction<T>(action: () => T, recorded: readonly Uint8Array[] = []): T {
    const result = this.#explaining(() =>
      this.#inTransaction('BEGIN IMMEDIATE', () => {
        // Under the lock: a file that takes the place of this one does so with the lock, or without any.
        this.files.require();
        const inner = action();
        this.prepare(WRITE_TRANSACTION_ID).run(this.#transactionIds.next());
        return inner;
      }),
    );
    // Before the look: after one that fails, these events are in the log, and their repetitions will be answered.
    this.#held.add(recorded);
    // Others who open the file by its name must find what was written.
    this.files.require();
    this.#writeBackIfDue(recorded);
    return result;
  }

  /** Runs an action as {@link transaction} does, and takes back what it wrote. */
  rehearse(action: () => unknown): void {
    this.#explaining(() => this.#inTransaction('BEGIN IMMEDIATE', action, 'ROLLBACK'));
  }

  /** With `BEGIN` the first write takes the lock, or fails without waiting where another connection has it. */
  #inTransaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', action: () => T, end = 'COMMIT'): T {
    try {
      this.prepare(begin).run();
      const result = action();
      this.prepare(end).run();
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.execute('ROLLBACK');
      throw error;
    }
  }

  #writeBackIfDue(recorded: readonly Uint8Array[]): void {
    this.#uncountedBytes = recorded.reduce((sum, { length }) => sum + length, this.#uncountedBytes + COMMIT_BYTES);
    // What records nothing may have forgotten any number of events.
    if (recorded.length > 0 && this.#uncountedBytes < UNCOUNTED_BYTES) return;
    this.#uncountedBytes = 0;
    const { log, checkpointed } = this.#checkpoint('NOOP');
    if (log === checkpointed || (log >= WRITE_BACK_PAGES && this.#writesBack())) this.#held.clear();
  }

  /** Writes the write-ahead log back; false if a reader still needs it or the disk is full. @throws {LostFileError} */
  #writesBack(): boolean {
    try {
      this.#writtenBack('PASSIVE');
    } catch {
      return false;
    }
    // At once: the write-ahead log does not complete an older state of the file any more.
    this.files.require();
    return !this.#isHalfWritten;
  }

  /** Returns whether the file has all of the write-ahead log. */
  #writtenBack(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.#isHalfWritten = true;
    const pages = this.files.wal.writingBack(this.#checkpoint('NOOP').log, () => this.#checkpoint(mode));
    // While another connection writes back, SQLite counts no pages: -1 of -1.
    this.#isHalfWritten = pages.busy !== 0 || pages.log !== pages.checkpointed;
    return !this.#isHalfWritten;
  }

  #checkpoint(mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE'): Checkpoint {
    return this.prepare(`PRAGMA wal_checkpoint(${mode})`).get() as Checkpoint;
  }

  /** Says that a file was lost, if an action failed for that reason. */
  #explaining<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      this.files.require();
      throw error;
    }
  }

  /**
   * Writes the write-ahead log back and empties it; returns false where a reader still needs it. Writers wait meanwhile, so most
   * is written back beforehand.
   */
  emptyWal(): boolean {
    this.#writesBack();
    this.setBusyTimeout(EMPTY_WAL_BUSY_TIMEOUT);
    try {
      return this.reading(() => this.#writtenBack('TRUNCATE'));
    } finally {
      this.setBusyTimeout();
    }
  }

  /** Writes all pages anew, without remains of deleted rows, and lets the file shrink while in use. Writers wait meanwhile. */
  vacuum(): void {
    this.reading(() => {
      this.execute('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
    });
  }

  /**
   * Closes the database, which writes its write-ahead log back where no other connection is open.
   *
   * @throws {LostFileError} a file was lost, or another error: it is not known whether one is. `holdOpen` keeps SQLite from
   * writing to them until this thread has ended.
   */
  close(): void {
    this.files.require();
    this.#writesBack();
    this.files.close();
    this.#database.close();
  }

  /**
   * Writes the events that only a lost write-ahead log holds into a new file beside the log.
   *
   * @param record - records batches in a new log.
   * @returns what became of them, in a sentence; undefined where none are missing.
   * @throws it is not known whether any are missing, or they cannot be written now. They are still held.
   */
  saveLost(record: (connection: SqliteConnection, batches: readonly Uint8Array[]) => void): string | undefined {
    if (this.files.hasWal) return undefined;
    if (this.#isHalfWritten) this.#writeRest();
    const name = this.files.lostName();
    if (!this.#held.isEmpty) this.#save(name, record);
    const aside = this.files.setWalAside();
    const what = 'events that only its write-ahead log held';
    const isKept = aside === undefined ? '' : ` That is kept as ${aside}.`;
    if (this.#held.isIncomplete) {
      const some = this.#held.isEmpty ? `The ${what}` : `Some of the ${what} are in ${name}; the others`;
      return `${some} could not be kept.${isKept}`;
    }
    if (this.#held.isEmpty) return undefined;
    return `The ${what} are in ${name}; some of them may be in the log, too.${isKept}`;
  }

  /**
   * Completes the file from the write-ahead log, which is still open here, unless another file is in its place or another log beside it.
   *
   * @throws it is not known whether one is.
   */
  #writeRest(): void {
    if (!this.files.lacksWal) return;
    try {
      this.#checkpoint('PASSIVE');
    } catch {
      // It was cut off.
    }
  }

  #save(name: string, record: (connection: SqliteConnection, batches: readonly Uint8Array[]) => void): void {
    try {
      const saved = new SqliteConnection({ ...this.#options, file: name });
      record(saved, this.#held.all());
      saved.emptyWal();
      saved.close();
    } catch (error) {
      for (const suffix of ['', '-wal', '-shm']) rmSync(name + suffix, { force: true });
      throw error;
    }
  }

  #fileState(): FileState {
    return this.prepare(readFileState()).get() as FileState;
  }
}
