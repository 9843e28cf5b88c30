import { closeSync, openSync, readSync } from 'node:fs';

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

/** Searches the pages of a write-ahead log that are in use, leaving out those that remain from before it was last reset. */
export function searchWal(file: string, stamp?: string): WalSearch {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'empty';
    throw error;
  }
  try {
    return searchFrames(descriptor, stamp);
  } finally {
    closeSync(descriptor);
  }
}

function searchFrames(descriptor: number, stamp: string | undefined): WalSearch {
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
    if (frame.includes(stamp, FRAME_HEADER_BYTES, 'latin1')) return 'found';
    if (result === 'unstamped' && STAMPS.test(frame.toString('latin1', FRAME_HEADER_BYTES))) result = 'not found';
  }
}
