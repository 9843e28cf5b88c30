import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { withoutPath } from '../binding';
import { TRANSACTION_IDS } from '../schema';

/** Sizes and offsets in bytes, as in https://sqlite.org/fileformat2.html#the_write_ahead_log. */
const HEADER_BYTES = 32;
const PAGE_SIZE_OFFSET = 8;
const HEADER_SALTS_OFFSET = 16;
const FRAME_HEADER_BYTES = 24;
const FRAME_SALTS_OFFSET = 8;
const SALTS_BYTES = 8;

/** Up to 16 MB are copied. */
const MOST_COPIED_PAGES = 4000;

/** Begins a header; the last bit says how checksums are computed. */
const MAGIC = 0x377f0682;

/**
 * What a write-ahead log has of a transaction: its id, or only those of others, or no ids, as only other programs wrote. `empty`:
 * SQLite would apply no page.
 */
type WalSearch = 'found' | 'not found' | 'no ids' | 'empty';

/** A write-ahead log, read past SQLite. It stays open, so that a look at it needs no free descriptor. */
export class WriteAheadLog {
  readonly #descriptor: number;
  /** How long it was at the last look, in bytes, and the header of its last frame. */
  #size = 0;
  #lastFrame: { readonly offset: number; readonly header: Buffer } | undefined;

  /** @param mode - `r+` for {@link writingBack}. */
  constructor(file: string, mode: 'r' | 'r+' = 'r') {
    this.#descriptor = openSync(file, mode);
    this.noteEnd();
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /**
   * Whether what the last look found at its end is still there, or what a log that began anew has written over it. If not, it
   * was emptied: by SQLite, which has written all of it back before, or by another program. Where bytes are written behind a place
   * at which it was cut off, those between are zeros.
   */
  hasEnd(size = fstatSync(this.#descriptor).size): boolean {
    if (size < this.#size) return false;
    const last = this.#lastFrame;
    const found = last && this.#read(last.offset, Buffer.alloc(FRAME_HEADER_BYTES));
    const isThere = last === undefined || found?.equals(last.header) === true;
    if (isThere && size === this.#size) return true;
    const header = this.#header();
    if (header === undefined || !(isThere || saltsOf(header).equals(saltsOf(found, FRAME_SALTS_OFFSET)))) return false;
    this.noteEnd(size);
    return true;
  }

  /** Notes its present end. */
  noteEnd(size = fstatSync(this.#descriptor).size): void {
    const header = this.#header();
    const frames = header === undefined ? 0 : Math.floor((size - HEADER_BYTES) / frameBytes(header));
    this.#size = size;
    this.#lastFrame = undefined;
    if (header === undefined || frames < 1) return;
    const offset = HEADER_BYTES + (frames - 1) * frameBytes(header);
    this.#lastFrame = { offset, header: this.#read(offset, Buffer.alloc(FRAME_HEADER_BYTES)) };
  }

  /**
   * Runs an action that writes its pages back to the database file. If it is cut off meanwhile, the action fails with some of them
   * written, which alone would leave the file malformed: then it is completed from a copy, and the action runs again.
   *
   * @param pages - how many it has; of more than some thousand no copy is made.
   */
  writingBack<T>(pages: number, action: () => T): T {
    const copy = pages > MOST_COPIED_PAGES ? undefined : this.#copy(pages);
    try {
      return action();
    } catch (error) {
      if (copy === undefined || fstatSync(this.#descriptor).size >= copy.length) throw error;
      writeSync(this.#descriptor, copy, 0, copy.length, 0);
      return action();
    }
  }

  #copy(pages: number): Buffer | undefined {
    const header = this.#header();
    return header && this.#read(0, Buffer.allocUnsafeSlow(HEADER_BYTES + pages * frameBytes(header)));
  }

  /**
   * Searches the pages that were written since it was last reset.
   *
   * @param known - the id of a transaction in the file itself: one of an earlier transaction is not taken for found.
   */
  search(transactionId?: string, known?: string): WalSearch {
    const header = this.#header();
    if (header === undefined) return 'empty';
    const salts = saltsOf(header);
    const bytes = Buffer.alloc(frameBytes(header));
    let result: WalSearch = 'empty';
    for (let offset = HEADER_BYTES; ; offset += bytes.length) {
      const frame = this.#read(offset, bytes);
      if (frame.length < bytes.length || !saltsOf(frame, FRAME_SALTS_OFFSET).equals(salts)) return result;
      if (result === 'empty') result = 'no ids';
      if (transactionId === undefined) return result;
      const has = (sought: string): boolean => frame.includes(sought, FRAME_HEADER_BYTES, 'latin1');
      if (has(transactionId)) {
        result = 'found';
        if (known === undefined) return result;
      } else if (known !== undefined && has(known)) result = 'not found';
      else if (result === 'no ids' && TRANSACTION_IDS.test(frame.toString('latin1', FRAME_HEADER_BYTES)))
        result = 'not found';
    }
  }

  /** Undefined where SQLite would apply no page, as there is no header. */
  #header(): Buffer | undefined {
    const header = this.#read(0, Buffer.alloc(HEADER_BYTES));
    return header.length === HEADER_BYTES && (header.readUInt32BE(0) & ~1) === MAGIC ? header : undefined;
  }

  /** Fills a buffer, or its beginning at the end of the file. */
  #read(offset: number, bytes: Buffer): Buffer {
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, bytes.length, offset));
  }
}

/** Searches the write-ahead log of this name, as {@link WriteAheadLog.search} does. */
export function searchWal(file: string, transactionId?: string): WalSearch {
  let wal: WriteAheadLog;
  try {
    wal = new WriteAheadLog(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'empty';
    const problem = `the write-ahead log beside the file (its name ends with -wal) cannot be read: ${withoutPath(error)}`;
    throw new Error(problem, { cause: error });
  }
  try {
    return wal.search(transactionId);
  } finally {
    wal.close();
  }
}

function frameBytes(header: Buffer): number {
  return FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_OFFSET);
}

function saltsOf(bytes: Buffer = Buffer.alloc(0), offset = HEADER_SALTS_OFFSET): Buffer {
  return bytes.subarray(offset, offset + SALTS_BYTES);
}
