import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { flush } from '../../util/files';
import { reasonOf } from '../../util/errors';
import { filesAt, pathOf, requireSame, type OpenedFiles, isReadOnly, makeFolder } from './files';
import { provideSchema } from './schema';

// The only file that names the binding, which has the API of Node's own `node:sqlite`.

/** How a SQLite event log is opened. */
export interface SqliteOptions {
  readonly file: string;
  /** Makes a missing file and its folders, and brings an older one up to date; true by default. If false, the file system may be read-only. */
  readonly create?: boolean;
  /** Maximum pages (4,096 bytes each) to which the database may grow. */
  readonly maxPages?: number;
  /** The files that another thread of this process has open: no others are opened in their place. */
  readonly opened?: OpenedFiles | undefined;
}

/** Numbers must be safe integers. */
export type SqlValue = string | number | null;

interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

/** How long a call waits for a lock, in milliseconds. */
export const LOCK_TIMEOUT = 5000;

/** Longest pause between two attempts to get a lock, in milliseconds: a commit takes 1 to 3. SQLite's own back-off waits up to 100. */
const LOCK_PAUSE = 0.2;

/** Size to which the write-ahead log shrinks once it has been written back, in bytes. */
const WAL_BYTES = 16 * 1024 * 1024;

/** A connection to the file of a log. It blocks its thread, for a lock at most 0.2 ms at a time. */
export class Database {
  readonly #statements = new Map<string, Statement>();
  /** Where a symbolic link leads: beside it are the other files. */
  readonly #path: string;

  private constructor(
    private readonly file: string,
    private readonly database: DatabaseSyncInstance,
    /** Those that were opened. */
    public files: OpenedFiles | undefined,
  ) {
    this.#path = pathOf(file);
  }

  /** @throws the database cannot be opened, or is not one of this program and version; the message does not name the path. */
  static async open({ file, create = true, maxPages, opened }: SqliteOptions): Promise<Database> {
    if (opened === undefined) requireUsable(file, create);
    else requireSame(filesAt(file, pathOf(file)), opened);
    const connection = new Database(file, openedDatabase(file), opened);
    await connection.#whenUnlocked(() => {
      provideSchema(connection.database, create && opened === undefined);
      connection.execute('PRAGMA journal_mode = WAL');
    });
    connection.execute('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    connection.execute(`PRAGMA journal_size_limit = ${String(WAL_BYTES)}`);
    // Overwrites deleted events.
    connection.execute('PRAGMA secure_delete = ON');
    if (maxPages !== undefined) connection.execute(`PRAGMA max_page_count = ${String(maxPages)}`);
    // The first read creates a missing write-ahead log.
    await connection.#whenUnlocked(() => connection.execute('SELECT 1 FROM events LIMIT 1'));
    connection.files ??= filesAt(file, connection.#path);
    // Also if the files were missing for a moment.
    connection.verifyFiles();
    if (!isReadOnly(file)) connection.#flushWal();
    return connection;
  }

  /** Prepares a statement once: parsing it may cost as much as an insert. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  number(sql: string, ...values: readonly SqlValue[]): number {
    return Number(Object.values(this.prepare(sql).get(...values) as object)[0]);
  }

  execute(sql: string): void {
    this.database.exec(sql);
  }

  /** @throws the files at the path are not those that were opened: SQLite would go on with those wherever they are moved. */
  verifyFiles(): void {
    requireSame(filesAt(this.file, this.#path), this.files);
  }

  /** Runs an action in a read transaction: it sees the database at one moment. @throws as {@link verifyFiles}. */
  read<T>(action: () => T): Promise<T> {
    return this.#whenUnlocked(() => this.#inTransaction(action, 'BEGIN'));
  }

  /**
   * Runs an action. All its writes are on disk when this resolves, none when it rejects.
   *
   * @param lockTimeout - how long to wait for the lock, in milliseconds.
   * @throws as {@link verifyFiles}; also what the action throws.
   */
  write<T>(action: () => T, lockTimeout?: number): Promise<T> {
    return this.#whenUnlocked(() => this.#inTransaction(action, 'BEGIN IMMEDIATE'), lockTimeout);
  }

  /** Runs a statement that cannot stand in a transaction. @throws as {@link verifyFiles}. */
  outsideTransaction(sql: string, ...values: readonly SqlValue[]): Promise<void> {
    return this.#whenUnlocked(() => {
      this.verifyFiles();
      this.prepare(sql).run(...values);
    });
  }

  /** Tries again while another connection holds a lock, after short pauses of random length; other questions have their turn between. */
  async #whenUnlocked<T>(action: () => T, lockTimeout = LOCK_TIMEOUT): Promise<T> {
    const deadline = performance.now() + lockTimeout;
    for (;;) {
      try {
        return action();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
        pause(Math.random() * LOCK_PAUSE);
        await nextTurn();
      }
    }
  }

  #inTransaction<T>(action: () => T, begin: string): T {
    this.verifyFiles();
    try {
      this.prepare(begin).run();
      const result = action();
      this.prepare('COMMIT').run();
      return result;
    } catch (error) {
      if (this.database.isTransaction) this.execute('ROLLBACK');
      throw error;
    }
  }

  /** Writes the write-ahead log back and empties it; false if a reader still needs it. @throws as {@link verifyFiles}. */
  emptyWal(): boolean {
    this.verifyFiles();
    const isEmpty = this.number('PRAGMA wal_checkpoint(TRUNCATE)') === 0;
    if (isEmpty) this.#flushWal();
    return isEmpty;
  }

  /** Puts the write-ahead log on disk, name included: SQLite syncs neither what a killed process left in it, nor that it was cut. */
  #flushWal(): void {
    flush(`${this.#path}-wal`);
    flush(dirname(this.#path));
  }

  bytes(): number {
    const { file, wal } = filesAt(this.file, this.#path);
    return Number(file?.size ?? 0n) + Number(wal?.size ?? 0n);
  }

  /** @throws as {@link verifyFiles}: the database stays open, since SQLite would write to the files and delete by name. */
  close(): void {
    this.verifyFiles();
    this.database.close();
  }
}

/** Keeps the log's file open until `close`: meanwhile no other connection that closes writes the write-ahead log back or deletes it. */
export function keepOpen(file: string): { close(): void } {
  return withLock(openedForReading(file), 'SELECT 1 FROM sqlite_schema');
}

/** On a read-only file system SQLite can make no write-ahead log, and reads a file without one only as immutable. */
function openedForReading(file: string): DatabaseSyncInstance {
  const isImmutable = isReadOnly(file) && !existsSync(`${pathOf(file)}-wal`);
  const name = isImmutable ? new URL(`${pathToFileURL(file).href}?immutable=1`) : file;
  return new DatabaseSync(name, { readOnly: true, timeout: 1000 });
}

/** Locks a file, created if it is missing, until `close`. @throws it cannot be opened, or is locked ({@link isBusy}). */
export function lockFile(file: string): { close(): void } {
  return withLock(openedDatabase(file), 'BEGIN EXCLUSIVE');
}

/** Returns the database with the lock that the SQL takes. Prepares no statement, which would outlive `close`. */
function withLock(database: DatabaseSyncInstance, sql: string): { close(): void } {
  try {
    database.exec(sql);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** True if another connection holds a lock. Only the message says so: an error of `all` has no code. */
export function isBusy(error: unknown): boolean {
  return (error as Error).message === 'database is locked';
}

/** The message of an error without the path, which callers must not see. */
export function withoutPath(error: unknown): string {
  const { syscall, code, message } = error as NodeJS.ErrnoException;
  return syscall === undefined ? message : (code ?? message);
}

function openedDatabase(file: string): DatabaseSyncInstance {
  try {
    return isReadOnly(file) ? openedForReading(file) : new DatabaseSync(file, { defensive: false });
  } catch {
    throw new Error('the file cannot be opened');
  }
}

const ADVICE = 'Set EVENT_LOG to sqlite: and the path of a file.';

/** @throws the file cannot, or must not, be opened. The message does not name it. */
function requireUsable(file: string, create: boolean): void {
  try {
    const { file: found, wal } = filesAt(file, pathOf(file));
    if ((found?.size ?? 0n) === 0n && (wal?.size ?? 0n) > 0n) {
      throw new Error(
        'the write-ahead log beside the file (its name ends with -wal) holds events, but the file itself is missing or empty, and ' +
          'SQLite would delete them. Put back the file to which it belongs, or move it away to go on without the events in it. ' +
          'Nothing was changed',
      );
    }
    if (found === undefined && !create) throw new Error('the file is not there');
    if (found?.isDirectory()) throw new Error(`it is a folder. ${ADVICE}`);
    if (found === undefined) makeFolder(dirname(file));
    if (!create && isReadOnly(file)) return;
    for (const path of found === undefined ? [dirname(file)] : [file, dirname(file)])
      accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { syscall, code = '', message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const reason = reasonOf(error);
    throw new Error(`${reason === message ? code : reason}. ${ADVICE}`, { cause: error });
  }
}

/** Blocks the thread. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
