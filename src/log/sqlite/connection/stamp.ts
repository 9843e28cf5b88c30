import { randomBytes } from 'node:crypto';
import { statSync, closeSync, openSync, readSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { pause } from '../../../util/time';
import { isNoDatabase, openInMemory, type Database } from '../binding';
import { schemaState, WRITE_IDENTITY, WRITE_STAMP } from '../schema';

/**
 * Each transaction writes a stamp of its own into `totals`, beside the stamp of the one before. SQLite applies whatever
 * write-ahead log lies beside a database file, even one that was written for another file, which destroys both. By the
 * stamps the two can be told to belong together: the stamp in the database file, which is that of the last transaction
 * written back to it, stands in the write-ahead log, as that of one of its transactions or of the one before its first.
 */
export class Stamps {
  readonly #connection = randomBytes(9).toString('base64url');
  #made = 0;

  /** A text of 22 ASCII characters that no other transaction has. */
  next(): string {
    return `${this.#connection}${(this.#made++).toString(36).padStart(10, '0')}`;
  }
}

/** Gives a copy an identity and a stamp of its own: a write-ahead log of the original is not taken for one of the copy. */
export function makeDistinct(copy: Database): void {
  copy.exec(`${WRITE_IDENTITY}; ${WRITE_STAMP.replace('?', `'${new Stamps().next()}'`)}`);
}

/** What a database file says of itself. */
export interface Marks {
  /** Tells the file from every other. Its page is never written again, so that no later transaction covers up a foreign one. */
  readonly identity: string;
  /** The stamp of the last transaction. */
  readonly stamp: string;
}

/** Reads the {@link Marks} of an attached file. */
export function readMarks(schema = 'main'): string {
  return `SELECT id AS identity, stamp FROM ${schema}.identity, ${schema}.totals`;
}

/** How often, and after how many milliseconds, files are looked at again while another process may be writing them. */
const LOOKS = 5;
const PAUSE = 20;

/** Reads the marks in a database file itself, without what its write-ahead log adds. */
export class MarksReader {
  // The files are attached to it: DETACH lets go of one at once, while a connection goes on until its statements are collected.
  readonly #database = openInMemory();

  constructor() {
    // While a reader holds back a checkpoint, the file may lack pages at its end that it says it has: they are in the write-ahead
    // log. Without this SQLite takes it for malformed. Nothing is ever written over this connection.
    this.#database.exec('PRAGMA writable_schema = ON');
  }

  /**
   * Makes sure that the write-ahead log beside a database file, if there is one, was written for this file.
   *
   * @throws it was not, so that the file must not be opened; or the file is not a database of this program and version.
   */
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
   * Whether the marks in a database file are right. Looks again where they are not, or cannot be read: another process may be
   * writing the file.
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
 * What a write-ahead log says of a stamp: whether it has it, has only others, or has none, because only other programs wrote;
 * `empty` where SQLite would apply no page.
 */
export type WalSearch = 'found' | 'not found' | 'unstamped' | 'empty';

/** The stamps of a transaction and of the one before, as they stand in a page beside each other; see `Stamps`. */
const STAMPS = /(?:[\w-]{12}0[\da-z]{9}){2}/;

/**
 * Searches the pages of a write-ahead log that are in use, leaving out those that remain from before it was last reset.
 *
 * @param known - a stamp of the file itself: one of an earlier transaction is not taken for found.
 */
export function searchWal(file: string, stamp?: string, known?: string): WalSearch {
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
