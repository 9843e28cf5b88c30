import { statSync, type Stats } from 'node:fs';
import Database from 'libsql';
import type { NewEvent, Retention } from './event-log';
import { sizeOf } from './page';
import { SqliteReader } from './sqlite-reader';
import { SqliteRetention } from './sqlite-retention';
import { migrate, schemaVersion } from './sqlite-schema';

/** How a SQLite event log is opened. */
export interface SqliteOptions {
  /** Path of the database file. It is created when it is missing; its folder must be there. */
  readonly file: string;
  /** How long a call waits for another program that holds the database's lock, in milliseconds. */
  readonly busyTimeout: number;
  /** Most pages (4,096 bytes each) that the database may grow to; undefined: as many as the disk holds. */
  readonly maxPages?: number;
  /** Which events are forgotten; undefined: none. */
  readonly retention?: Retention;
}

/** What is left of the write-ahead log when it has been written back. */
const WAL_BYTES = 16 * 1024 * 1024;

/** How long a check waits for another program's lock, in milliseconds: shorter than whoever asks for it waits. */
const CHECK_BUSY_TIMEOUT = 500;

/** Thrown when the file of the database was removed, moved or replaced: this connection is of no more use. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
}

/**
 * The SQLite side of the event log: one connection, synchronous, and all that writes. It runs in a worker thread, so that
 * neither a slow disk nor another program's lock holds up the thread that answers requests.
 */
export class SqliteDatabase {
  /** Reads what is in the log, over the same connection. */
  readonly reader: SqliteReader;
  readonly #options: SqliteOptions;
  readonly #file: Stats;
  readonly #database: Database.Database;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #insert: Database.Statement;
  readonly #findFirst: Database.Statement;
  readonly #add: Database.Statement;
  readonly #retention: SqliteRetention | undefined;
  #lastCommitFailed = false;

  /** @throws the database cannot be opened, is none, or is not one of this program and version. */
  constructor(options: SqliteOptions) {
    const database = new Database(options.file);
    this.#options = options;
    this.#database = database;
    this.#setBusyTimeout(options.busyTimeout);
    // Two processes that turn a new file into a WAL database at the same moment: one is told "locked" without waiting.
    retryWhileLocked(options.busyTimeout, () => {
      if (schemaVersion(database) === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL');
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    });
    database.exec(`PRAGMA journal_size_limit = ${String(WAL_BYTES)}`);
    if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${String(options.maxPages)}`);
    migrate(database);
    this.#file = statSync(options.file);
    if (options.retention !== undefined) this.#retention = new SqliteRetention(database, options.retention);

    this.reader = new SqliteReader(database);
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#insert = database.prepare(
      `INSERT INTO events
         (recorded_at, id, source, idempotency_key, webhook_id, head_bytes, data_bytes, attributes, arrival, data)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#add = database.prepare('UPDATE totals SET events = events + ?');
    this.#findFirst = database.prepare(
      `SELECT id FROM events WHERE (id = ? AND source = ?) OR idempotency_key = ? OR webhook_id = ?
       ORDER BY sequence LIMIT 1`,
    );
  }

  /**
   * Records events in one transaction: all of them are on disk when it returns, none when it throws. Returns the first ids of
   * those that were in the log before, by their places among the events.
   */
  append(events: readonly NewEvent[]): Map<number, string> {
    return this.#transaction(() => {
      const firstIds = new Map<number, string>();
      events.forEach((event, i) => {
        const firstId = this.#record(event);
        if (firstId !== undefined) firstIds.set(i, firstId);
      });
      this.#add.run(events.length - firstIds.size);
      return firstIds;
    });
  }

  #transaction<T>(action: () => T): T {
    this.#requireFile();
    try {
      this.#begin.run();
      const result = action();
      this.#commit.run();
      // Whoever reads this file by its name must find what was written.
      this.#requireFile();
      this.#lastCommitFailed = false;
      return result;
    } catch (error) {
      this.#lastCommitFailed = true;
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Returns when the file is where it was and the last commit went well or another one does: after one that failed, a
   * commit that changes nothing is tried.
   */
  check(): void {
    this.#requireFile();
    if (!this.#lastCommitFailed) return;
    this.#setBusyTimeout(CHECK_BUSY_TIMEOUT);
    try {
      // An update that leaves a row as it was would write no page.
      this.#transaction(() => {
        this.#add.run(1);
        this.#add.run(-1);
      });
    } finally {
      this.#setBusyTimeout(this.#options.busyTimeout);
    }
  }

  /** @throws {LostFileError} the file that is open has no name any more, or another one. */
  #requireFile(): void {
    const { dev, ino } = statSync(this.#options.file, { throwIfNoEntry: false }) ?? {};
    if (ino === undefined) throw new LostFileError('the file is not there any more');
    if (ino !== this.#file.ino || dev !== this.#file.dev) {
      throw new LostFileError('another file has taken the place of the file');
    }
  }

  #setBusyTimeout(milliseconds: number): void {
    this.#database.exec(`PRAGMA busy_timeout = ${String(milliseconds)}`);
  }

  /** Records one event; where it is in the log already, returns its first id. */
  #record(event: NewEvent): string | undefined {
    const { id, source, idempotencyKey = null, webhookId = null, attributes, arrival, data = null } = event;
    const { headBytes, dataBytes } = sizeOf(event);
    const keys = [event.recordedAt, id, source, idempotencyKey, webhookId];
    const { changes } = this.#insert.run([...keys, headBytes, dataBytes, attributes, arrival, data]);
    if (changes === 1) return undefined;
    return (this.#findFirst.get(id, source, idempotencyKey, webhookId) as { id: string }).id;
  }

  /** Bytes of the file and of its write-ahead log. */
  bytes(): number {
    const { file } = this.#options;
    return [file, `${file}-wal`].reduce((sum, part) => sum + (statSync(part, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  /** Forgets a few events that are past retention. Returns whether there is more to do. */
  retain(): boolean {
    return this.#retention?.step() ?? false;
  }

  /** Writes a copy of the whole log, as it is at one moment, into a new file. Others can go on writing meanwhile. */
  backup(file: string): void {
    this.#database.prepare('VACUUM INTO ?').run(file);
  }

  close(): void {
    this.#database.close();
  }
}

function retryWhileLocked(milliseconds: number, action: () => void): void {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    try {
      action();
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
