import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

// The only file that names the binding. It has the API of Node's own `node:sqlite`, which takes its place once Node 24 is the oldest
// that is supported.

/** A value of SQLite. Numbers must be safe integers. */
export type SqlValue = string | number | null | Uint8Array;

/** A prepared statement. A text that is not UTF-8 is read with U+FFFD in place of what is wrong. */
export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
}

/** A connection. What it holds is released once its statements are, at the latest when its thread ends. */
export type Database = Pick<DatabaseSyncInstance, 'exec' | 'close' | 'isTransaction'> & {
  prepare(sql: string): Statement;
};

/**
 * The error codes of SQLite for a lock that another connection holds, damage, a file that cannot be opened, one that is no
 * database, and one that ends early.
 */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
const SQLITE_IOERR_SHORT_READ = 522;

/**
 * Opens a database file, and creates it if it is missing.
 *
 * @throws it cannot be opened; the message does not name the path, which callers of the service must not see.
 */
export function openDatabase(file: string): Database {
  try {
    return new DatabaseSync(file, { defensive: false });
  } catch {
    throw new Error(existsSync(dirname(file)) ? 'the file cannot be opened' : 'the folder of the file does not exist');
  }
}

/**
 * Opens a file without writing to it. While this is open, another connection of this process that is closed neither writes
 * its write-ahead log back nor removes it. Closing it lets go of the file at once.
 *
 * @throws as {@link openDatabase}.
 */
export function holdOpen(file: string): { close(): void } {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1000 });
  try {
    // Without a statement of its own, which would outlive `close`.
    database.exec('SELECT 1 FROM sqlite_schema');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Which files SQLite reads beside one that is only read: a write-ahead log, and its index, which others have made. */
export type Companions = 'none' | 'wal' | 'wal and index';

/** SQLite's access to files without locks, by which it keeps the index of a write-ahead log in memory. */
const WITHOUT_LOCKS = process.platform === 'win32' ? 'win32-none' : 'unix-none';

const COMPANIONS: Readonly<Record<Companions, string>> = {
  none: '?immutable=1',
  wal: `?vfs=${WITHOUT_LOCKS}`,
  'wal and index': '',
};

/** Opens a file for reading. SQLite makes no other file. Without an index, nothing keeps others from writing meanwhile. */
export function openReadOnly(file: string, companions: Companions): Database {
  const url = new URL(`${pathToFileURL(file).href}${COMPANIONS[companions]}`);
  const database = new DatabaseSync(url, { readOnly: true, timeout: 5000, defensive: false });
  if (companions === 'wal') database.exec('PRAGMA locking_mode = EXCLUSIVE');
  return database;
}

/**
 * Creates an empty file, if it is missing, and locks it for as long as the result is kept and this process lives.
 *
 * @throws as {@link openDatabase}, or another process has locked it, which {@link isBusy} tells.
 */
export function lockFile(file: string): Database {
  const database = openDatabase(file);
  try {
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Makes sure that no other connection has the file open, and that the file holds everything. Without a write-ahead log or its
 * index, another process may still write by those that it has open: it must let go of the file first.
 *
 * @throws as {@link openDatabase}, or another connection has the file open, which {@link isBusy} tells.
 */
export function requireAlone(database: Database): void {
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: number };
  // Fails at once: one that makes the missing files meanwhile keeps its lock for as long as it is open.
  database.exec('PRAGMA busy_timeout = 0');
  try {
    // In this mode no index is made that others could find.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE');
  } finally {
    database.exec(`PRAGMA busy_timeout = ${String(timeout)}; PRAGMA locking_mode = NORMAL`);
  }
  // The first read after it gives the lock back.
  database.exec('SELECT 1 FROM sqlite_schema');
}

/** Returns a database in memory, to which files can be attached by their URLs. */
export function openInMemory(): Database {
  return new DatabaseSync(new URL('file:///memory?mode=memory'), { defensive: false });
}

/** Whether an error says that another connection holds a lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === SQLITE_BUSY;
}

/** Does something again while it fails because of another connection's lock, for this time at most. */
export function retryWhileLocked(milliseconds: number, action: () => void): void {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    try {
      action();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      pause(10);
    }
  }
}

/** Whether an error says that a file is not a database. */
export function isNoDatabase(error: unknown): boolean {
  return codeOf(error) === SQLITE_NOTADB;
}

/** Whether an error says that what was read, without an error of the system, is not what was written. */
export function isDamage(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error)) || errcode === SQLITE_IOERR_SHORT_READ;
}

/** Says what went wrong, without the path that messages of the system and of SQLite have and callers must not see. */
export function withoutPath(error: unknown): string {
  const { errstr, syscall, code, message } = error as NodeJS.ErrnoException & { errstr?: string };
  if (syscall !== undefined) return code ?? message;
  return (codeOf(error) === SQLITE_CANTOPEN ? errstr : undefined) ?? message;
}

function codeOf(error: unknown): number {
  // The higher bits say why: a recovery, a snapshot that is too old.
  return ((error as { errcode?: number }).errcode ?? 0) % 256;
}

/** Blocks the thread for `milliseconds`: only for a thread that works synchronously, never for one that serves. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
