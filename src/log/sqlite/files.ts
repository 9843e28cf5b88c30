import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs';
import { pathToFileURL } from 'node:url';
import { pause } from '../../util/time';
import { isNoDatabase, openInMemory } from './binding';
import { readMarks, schemaState, STAMPS, type Marks } from './schema';

/** Thrown when a file of the database was removed, moved, replaced or overwritten: the connection never writes again. */
export class LostFileError extends Error {
  override readonly name = 'LostFileError';
}

/**
 * The files of an open database: the file itself, its write-ahead log (`-wal`) and the index of that (`-shm`). SQLite opens
 * each once by its name and goes on with it wherever it is moved; others find the files by name.
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
   * Makes sure that the open files are those at their paths, and that no one else wrote to the database file. Costs three `stat`
   * calls, and about 0.2 ms when the file has changed.
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
   * Whether the database file has the content that was written back to it. An older state of it has not: SQLite would not write
   * the same back again.
   */
  #isOurs(): boolean {
    try {
      return this.#marksReader.isRight(this.#path, ({ identity, stamp }) => {
        const current = this.#current().stamp;
        const isOurs =
          identity === this.#identity &&
          // The first holds after nearly every checkpoint; reading the whole write-ahead log takes milliseconds.
          (stamp === current || (current !== this.#stamp && searchWal(this.#wal, stamp, this.#stamp) === 'found'));
        if (isOurs) this.#stamp = stamp;
        return isOurs;
      });
    } catch {
      return false;
    }
  }

  /** Whether those who open the file by its name still find the events in the write-ahead log. */
  get hasWal(): boolean {
    return isAt(this.#wal, this.#walStats) && isAt(this.#file, this.#fileStats) && this.#isOurs();
  }

  /** Sets aside a write-ahead log that does not belong to the file beside it, so that this file can be opened. */
  setWalAside(): void {
    const wal = statSync(this.#wal, { throwIfNoEntry: false });
    if (wal === undefined || !isSame(wal, this.#walStats) || wal.size === 0) return;
    try {
      renameSync(this.#wal, `${this.#wal}.lost-${timestamp()}`);
    } catch (error) {
      // Another connection that lost the file at the same moment has set it aside.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    if (isAt(this.#shm, this.#shmStats)) rmSync(this.#shm, { force: true });
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

/** @throws the file cannot be written, or has several names: under each of them SQLite would keep its own write-ahead log. */
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

/** How often, and after how many milliseconds, marks are read again while another process may be writing them. */
const LOOKS = 5;
const PAUSE = 20;

/** Reads the marks in a database file itself, without what its write-ahead log adds. */
export class MarksReader {
  // The files are attached to it: DETACH lets go of them at once, a closed connection when its statements are collected.
  readonly #database = openInMemory();

  constructor() {
    // While a reader holds back a checkpoint, pages at the end of the file may be in the write-ahead log only. Without this SQLite
    // takes the file for malformed. Nothing is ever written over this connection.
    this.#database.exec('PRAGMA writable_schema = ON');
  }

  /** @throws the write-ahead log beside a file belongs to another, or the file is no database of this program and version. */
  requirePair(file: string): void {
    const wal = `${file}-wal`;
    if (searchWal(wal) === 'empty') return;
    const exists = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
    if (exists && this.isRight(file, ({ stamp }) => searchWal(wal, stamp) !== 'not found')) return;
    const problem = exists ? 'was written for another file' : 'the file itself is missing or empty';
    throw new Error(
      `The write-ahead log beside the file (its name ends with -wal) holds events, but ${problem}. Opening them together ` +
        'would destroy both. Put back the file that it belongs to, or move it away to go on without the events in it. ' +
        'Nothing was changed.',
    );
  }

  /** @throws the file is not a database of this program and version. Changes nothing, not even where it throws. */
  requireKnown(file: string): void {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) this.isRight(file, () => true);
  }

  /**
   * Whether the marks in a database file are right. Reads them again where they are not: another process may be writing the file.
   *
   * @throws the file is not a database of this program and version.
   */
  isRight(file: string, isRight: (marks: Marks) => boolean): boolean {
    for (let look = 1; ; look++) {
      try {
        const marks = this.#read(file);
        if (marks !== undefined && isRight(marks)) return true;
        if (look === LOOKS) return false;
      } catch (error) {
        if (look === LOOKS) throw error;
      }
      pause(PAUSE);
    }
  }

  #read(file: string): Marks | undefined {
    // Immutable: SQLite neither looks for a write-ahead log nor makes one.
    try {
      this.#database.prepare('ATTACH ? AS file').run(`${pathToFileURL(file).href}?immutable=1`);
    } catch (error) {
      throw isNoDatabase(error) ? new Error('The file is not a SQLite database. Nothing was changed.') : error;
    }
    try {
      if (schemaState(this.#database, 'file') === 'empty') return undefined;
      const [marks] = this.#database.prepare(readMarks('file')).all() as Marks[];
      return marks;
    } finally {
      this.#database.exec('DETACH file');
    }
  }
}

/** Sizes and offsets in bytes, as in https://sqlite.org/fileformat2.html#the_write_ahead_log. */
const HEADER_BYTES = 32;
const PAGE_SIZE_OFFSET = 8;
const SALTS = { offset: 16, bytes: 8 };
const FRAME_HEADER_BYTES = 24;
const FRAME_SALTS_OFFSET = 8;

/**
 * What a write-ahead log says of a stamp: it has it, or only others, or none, as only other programs wrote; `empty`: SQLite would
 * apply no page.
 */
type WalSearch = 'found' | 'not found' | 'unstamped' | 'empty';

/**
 * Searches the pages of a write-ahead log that were written since it was last reset.
 *
 * @param known - a stamp of the file itself: one of an earlier transaction is not taken for found.
 */
function searchWal(file: string, stamp?: string, known?: string): WalSearch {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'empty';
    throw error;
  }
  try {
    return searchFrames(descriptor, stamp, known);
  } finally {
    closeSync(descriptor);
  }
}

function searchFrames(descriptor: number, stamp: string | undefined, known: string | undefined): WalSearch {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return 'empty';
  const salts = header.subarray(SALTS.offset, SALTS.offset + SALTS.bytes);
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_OFFSET));
  let result: WalSearch = 'empty';
  for (let position = HEADER_BYTES; ; position += frame.length) {
    if (readSync(descriptor, frame, 0, frame.length, position) < frame.length) return result;
    const frameSalts = frame.subarray(FRAME_SALTS_OFFSET, FRAME_SALTS_OFFSET + SALTS.bytes);
    if (!frameSalts.equals(salts)) return result;
    if (result === 'empty') result = 'unstamped';
    if (stamp === undefined) return result;
    const has = (sought: string): boolean => frame.includes(sought, FRAME_HEADER_BYTES, 'latin1');
    if (has(stamp)) {
      result = 'found';
      if (known === undefined) return result;
    } else if (known !== undefined && has(known)) result = 'not found';
    else if (result === 'unstamped' && STAMPS.test(frame.toString('latin1', FRAME_HEADER_BYTES))) result = 'not found';
  }
}
