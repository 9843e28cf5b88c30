import { promisify } from 'node:util';
import { constants, deflateRaw, type ZlibOptions } from 'node:zlib';

const deflateRawAsync = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);

/** The beginning of a zlib stream (RFC 1950), and its last block, which is empty. */
const HEADER = Buffer.from([0x78, 0x9c]);
const LAST_BLOCK = Buffer.from([0x03, 0x00]);

/** The largest prime below 65,536 (RFC 1950, section 8.2). */
const BASE = 65_521;

/** A part of many answers, compressed once for all of them. */
export class AnswerPart {
  readonly bytes: Buffer;
  #blocks: Promise<Buffer> | undefined;
  #checksum: number | undefined;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  /** Joins parts to one zlib stream, the content coding `deflate` (RFC 9110, section 8.4.1.2). */
  static async *deflated(parts: AsyncIterable<AnswerPart>): AsyncGenerator<Buffer> {
    yield HEADER;
    let checksum = 1;
    for await (const part of parts) {
      yield await part.blocks();
      checksum = part.#checksumAfter(checksum);
    }
    const trailer = Buffer.alloc(4);
    trailer.writeUInt32BE(checksum);
    yield Buffer.concat([LAST_BLOCK, trailer]);
  }

  /** Blocks of Deflate (RFC 1951) that refer to nothing before them. */
  blocks(): Promise<Buffer> {
    this.#blocks ??= deflateRawAsync(this.bytes, { finishFlush: constants.Z_FULL_FLUSH });
    return this.#blocks;
  }

  /** The Adler-32 checksum of texts with a certain checksum and, after them, of this part. */
  #checksumAfter(before: number): number {
    this.#checksum ??= adler32(this.bytes);
    const [low, high] = halves(before);
    const [ownLow, ownHigh] = halves(this.#checksum);
    const sum = high + ownHigh + (this.bytes.length % BASE) * (low + BASE - 1);
    return checksumOf((low + ownLow + BASE - 1) % BASE, sum % BASE);
  }
}

/** Bytes after which the sums are reduced, at the latest: they stay whole numbers. */
const REDUCED_AFTER = 4096;

function adler32(bytes: Buffer): number {
  let [low, high] = [1, 0];
  for (let start = 0; start < bytes.length; start += REDUCED_AFTER) {
    const end = Math.min(start + REDUCED_AFTER, bytes.length);
    for (let i = start; i < end; i++) {
      low += bytes[i] ?? 0;
      high += low;
    }
    low %= BASE;
    high %= BASE;
  }
  return checksumOf(low, high);
}

function halves(checksum: number): [low: number, high: number] {
  return [checksum & 0xffff, checksum >>> 16];
}

function checksumOf(low: number, high: number): number {
  return high * 65_536 + low;
}
