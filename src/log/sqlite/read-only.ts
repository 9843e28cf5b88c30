import { existsSync, realpathSync, statSync, type Stats } from 'node:fs';
import { openReadOnly, type Companions, type Database, type Statement } from './binding';
import type { SqliteConnection } from './connection';
import { LostFileError, type DatabaseFiles } from './files/database-files';
import { FileStateReader } from './files/file-state';
import { schemaState } from './schema';

/** A connection as readers use it. */
export interface ReadableConnection extends Pick<SqliteConnection, 'prepare' | 'reading' | 'snapshot'> {
  readonly files: Pick<DatabaseFiles, 'bytes'>;
}

/** How often something is read again because others wrote the file meanwhile. */
const TRIES = 10;

/** The files as they were seen. */
interface Seen {
  readonly companions: Companions;
  /** Differs once the files have to be opened anew. */
  readonly mark: string;
  readonly bytes: number;
}

/**
 * Reads a log without writing anything: neither the file, which may be on a read-only file system, nor others beside it. Its
 * write-ahead log is read too, whether a service has it open or was killed; the index of that only if there is one.
 */
export class ReadOnlyConnection implements ReadableConnection {
  readonly #file: string;
  readonly #statements = new Map<string, Statement>();
  #database: Database | undefined;
  #mark = '';
  /** Which files are open with locks, which keep others from making them anew; the same until the thread ends. */
  #locked: string | undefined;

  /** @throws it cannot be read, or is no event log of this version. */
  constructor(file: string) {
    this.#file = file;
    this.reading(() => undefined);
  }

  readonly files = { bytes: (): number => seen(this.#file).bytes };

  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      if (this.#database === undefined) throw new Error('the file is not open');
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs an action that reads; again where others wrote the file meanwhile and no lock could tell them not to. */
  reading<T>(action: () => T): T {
    for (let tries = 1; ; tries++) {
      try {
        this.#open();
        const result = action();
        if (this.#locked !== undefined || seen(this.#file).mark === this.#mark) return result;
        if (tries === TRIES) throw new Error('others write the file all the time');
      } catch (error) {
        if (this.#locked !== undefined || tries === TRIES || seen(this.#file).mark === this.#mark) throw error;
      }
    }
  }

  snapshot<T>(action: () => T): T {
    return this.reading(() => {
      this.#database?.exec('BEGIN');
      try {
        return action();
      } finally {
        this.#database?.exec('COMMIT');
      }
    });
  }

  /**
   * SQLite lets go of files that are locked only when the thread ends.
   *
   * @throws {LostFileError} those that are locked are not at their paths any more: others may wait for them.
   */
  requireFiles(): void {
    if (this.#locked !== undefined && identities(this.#file) !== this.#locked)
      throw new LostFileError('other files have taken the place of those of the log');
  }

  close(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = undefined;
  }

  #open(): void {
    this.requireFiles();
    if (this.#database !== undefined && this.#locked !== undefined) return;
    const found = seen(this.#file);
    if (this.#database !== undefined && found.mark === this.#mark) return;
    this.close();
    this.#mark = found.mark;
    const path = realpathSync(this.#file);
    if (found.companions !== 'none') new FileStateReader().requirePair(path);
    // Before the file is opened: one that is replaced meanwhile is noticed by the next look.
    const locked = identities(path);
    const database = openReadOnly(path, found.companions);
    this.#database = database;
    if (found.companions === 'wal and index') {
      // The last to close a log removes the other two. Nothing is locked before the first read, so they can be opened anew.
      if (identities(path) !== locked) throw new Error('others open and close the file all the time');
      this.#locked = locked;
    }
    const state = schemaState(database);
    if (state !== 'empty' && state !== 'version 1') return;
    this.close();
    throw new Error(
      state === 'empty'
        ? 'the file holds no event log'
        : 'the file was written by an earlier version. The service brings it up to date when it starts',
    );
  }
}

function seen(name: string): Seen {
  const file = realpathSync(name);
  const stats = statSync(file);
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
  const index = statSync(`${file}-shm`, { throwIfNoEntry: false });
  if (wal === undefined || wal.size === 0) return { companions: 'none', mark: state(stats), bytes: stats.size };
  const bytes = stats.size + wal.size;
  return index === undefined
    ? { companions: 'wal', mark: `${state(stats)} ${state(wal)}`, bytes }
    : { companions: 'wal and index', mark: `${identity(stats)} ${identity(wal)} ${identity(index)}`, bytes };
}

/** Which files stand at the path of a log and beside it. */
function identities(file: string): string {
  const name = existsSync(file) ? realpathSync(file) : file;
  const names = ['', '-wal', '-shm'].map((suffix) => `${name}${suffix}`);
  return names
    .map((each) => statSync(each, { throwIfNoEntry: false }))
    .map((stats) => (stats === undefined ? '' : identity(stats)))
    .join(' ');
}

/** Differs once a file was replaced or written. */
function state(stats: Stats): string {
  return [identity(stats), stats.size, stats.mtimeMs].join(' ');
}

function identity({ dev, ino }: Stats): string {
  return `${String(dev)}:${String(ino)}`;
}
