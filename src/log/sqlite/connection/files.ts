import { copyFileSync, realpathSync, renameSync, rmSync, statSync, truncateSync, type Stats } from 'node:fs';
import type { Marks, MarksReader } from './stamp';
import { searchWal } from './wal';

/** How the files were lost. */
type Loss = 'moved' | 'overwritten' | 'index or write-ahead log';

/** Thrown when a file of the database was removed, moved, replaced or overwritten: its connection is of no more use. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
  readonly loss: Loss;

  constructor(message: string, loss: Loss) {
    super(message);
    this.loss = loss;
  }
}

/**
 * The files of an open database: the file itself, its write-ahead log (`-wal`) and the index of that (`-shm`). SQLite opens
 * each once by its name and goes on with what it opened, wherever that may be by then; others find the files by name.
 */
export class DatabaseFiles {
  readonly #file: string;
  /** SQLite keeps the other two beside the file that a symbolic link leads to. */
  readonly #path: string;
  readonly #wal: string;
  readonly #shm: string;
  readonly #marksReader: MarksReader;
  readonly #current: () => Marks;
  readonly #identity: string;
  #fileStats: Stats;
  readonly #walStats: Stats;
  readonly #shmStats: Stats;

  /**
   * Remembers the files that a connection has just opened.
   *
   * @param current - reads the marks as the connection sees them.
   */
  constructor(file: string, marksReader: MarksReader, current: () => Marks) {
    this.#file = file;
    this.#path = realpathSync(file);
    this.#wal = `${this.#path}-wal`;
    this.#shm = `${this.#path}-shm`;
    this.#marksReader = marksReader;
    this.#current = current;
    this.#identity = current().identity;
    this.#fileStats = statSync(file);
    this.#walStats = statSync(this.#wal);
    this.#shmStats = statSync(this.#shm);
  }

  /** Bytes of the file and of its write-ahead log. */
  bytes(): number {
    return [this.#path, this.#wal].reduce(
      (sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  }

  /**
   * Makes sure that the files that are open are those that others find under their names, and that nobody else wrote to the
   * database file. Costs the time of three `stat` calls, and about 0.2 ms when the file has changed.
   *
   * @throws {LostFileError}
   */
  require(): void {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) throw new LostFileError('the file is not there any more', 'moved');
    if (!isSame(stats, this.#fileStats))
      throw new LostFileError('another file has taken the place of the file', 'moved');
    if (!isAt(this.#wal, this.#walStats)) {
      throw new LostFileError('the write-ahead log of the file was removed or replaced', 'index or write-ahead log');
    }
    if (!isAt(this.#shm, this.#shmStats)) {
      throw new LostFileError('the index of the write-ahead log was removed or replaced', 'index or write-ahead log');
    }
    if (isUnchanged(stats, this.#fileStats)) return;
    if (!this.#isOurs()) throw new LostFileError('the content of the file was replaced', 'overwritten');
    this.#fileStats = stats;
  }

  /** Whether the database file has the content that was written back to it, and no other. */
  #isOurs(): boolean {
    try {
      return this.#marksReader.isRight(
        this.#path,
        ({ identity, stamp }) =>
          // After a checkpoint the first is nearly always so, and reading the whole write-ahead log takes milliseconds.
          identity === this.#identity && (stamp === this.#current().stamp || searchWal(this.#wal, stamp) === 'found'),
      );
    } catch {
      return false;
    }
  }

  /**
   * Keeps SQLite from writing the write-ahead log back to a file that it does not belong to, which happens on closing: the
   * pages in it are set aside in a file of their own.
   */
  emptyWal(): void {
    if (!isAt(this.#wal, this.#walStats)) return;
    if (statSync(this.#wal).size > 0) copyFileSync(this.#wal, this.#lostName());
    truncateSync(this.#wal);
  }

  /** Clears the names for the files that will be opened next. What a write-ahead log still holds is set aside. */
  remove(): void {
    if (isAt(this.#wal, this.#walStats)) {
      if (statSync(this.#wal).size > 0) renameSync(this.#wal, this.#lostName());
      else rmSync(this.#wal);
    }
    if (isAt(this.#shm, this.#shmStats)) rmSync(this.#shm);
  }

  #lostName(): string {
    return `${this.#wal}.lost-${String(Date.now())}`;
  }
}

function isAt(name: string, expected: Stats): boolean {
  const stats = statSync(name, { throwIfNoEntry: false });
  return stats !== undefined && isSame(stats, expected);
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

function isUnchanged(one: Stats, other: Stats): boolean {
  return one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs && one.size === other.size;
}
