import { accessSync, constants, existsSync, realpathSync, renameSync, rmSync, statSync, type Stats } from 'node:fs';
import { searchWal, type Marks, type MarksReader } from './stamp';

/** Thrown when a file of the database was removed, moved, replaced or overwritten: its connection never writes again. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
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
  /** The stamp in the database file when it was last found to be the right one. */
  #stamp: string | undefined;
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
   * Makes sure that the files that are open are those that others find under their names, and that no one else wrote to the
   * database file. Costs the time of three `stat` calls, and about 0.2 ms when the file has changed.
   *
   * @throws {LostFileError}
   */
  require(): void {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) throw new LostFileError('the file is not there any more');
    if (!isSame(stats, this.#fileStats)) throw new LostFileError('another file has taken the place of the file');
    if (!isAt(this.#wal, this.#walStats)) {
      throw new LostFileError('the write-ahead log of the file was removed or replaced');
    }
    if (!isAt(this.#shm, this.#shmStats)) {
      throw new LostFileError('the index of the write-ahead log was removed or replaced');
    }
    if (isUnchanged(stats, this.#fileStats)) return;
    if (!this.#isOurs()) throw new LostFileError('the content of the file was replaced');
    this.#fileStats = stats;
  }

  /**
   * Whether the database file has the content that was written back to it, and no other: not an older state of it either, to
   * which SQLite would not write again what it has written back.
   */
  #isOurs(): boolean {
    try {
      return this.#marksReader.isRight(this.#path, ({ identity, stamp }) => {
        const current = this.#current().stamp;
        const isOurs =
          identity === this.#identity &&
          // After a checkpoint the first is nearly always so, and reading the whole write-ahead log takes milliseconds.
          (stamp === current || (current !== this.#stamp && searchWal(this.#wal, stamp, this.#stamp) === 'found'));
        if (isOurs) this.#stamp = stamp;
        return isOurs;
      });
    } catch {
      return false;
    }
  }

  /** Whether the events in the write-ahead log are still found by those who open the file by its name. */
  get hasWal(): boolean {
    return isAt(this.#wal, this.#walStats) && isAt(this.#file, this.#fileStats) && this.#isOurs();
  }

  /** Sets a write-ahead log aside that does not belong to the file beside it, so that this file can be opened. */
  setWalAside(): void {
    if (!isAt(this.#wal, this.#walStats) || statSync(this.#wal).size === 0) return;
    renameSync(this.#wal, `${this.#wal}.lost-${timestamp()}`);
    if (isAt(this.#shm, this.#shmStats)) rmSync(this.#shm);
  }

  /** A name beside the file for events that are in no other. */
  lostName(): string {
    for (let name = `${this.#path}.lost-${timestamp()}`; ; name += '-') if (!existsSync(name)) return name;
  }
}

/** Whether the write-ahead log beside a file and its index exist: a connection that is open has both. */
export function hasCompanions(file: string): boolean {
  return existsSync(`${file}-wal`) && existsSync(`${file}-shm`);
}

/**
 * @throws the file cannot be written, or has more names than one: under each of them SQLite would keep a write-ahead log of its
 * own.
 */
export function requireUsable(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isFile() && stats.nlink > 1) {
    throw new Error(
      `the file has ${String(stats.nlink)} names (hard links), and services that open it under different ones would lose ` +
        'events. Remove the others',
    );
  }
  try {
    accessSync(file, constants.W_OK);
  } catch {
    throw new Error('the file cannot be written by this user');
  }
}

function timestamp(): string {
  return new Date().toISOString().replaceAll(/[:.]/g, '-');
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
