import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Turns } from '../../util/promises';
import { HTTP_ERRORS, RequestError } from '../errors';

/** A content coding that can be undone (RFC 9110, section 8.4.1). */
export type Coding = 'gzip' | 'x-gzip' | 'deflate' | 'br';

const DECODERS: Readonly<Record<Coding, () => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** How many bodies are decoded at once: as many as Node has threads for it. */
const MAX_AT_ONCE = 4;

/** Whether a content coding can be undone. */
export function isCoding(name: string): name is Coding {
  return Object.hasOwn(DECODERS, name);
}

/** How the codings begin that begin in one way only (RFC 1952, section 2.3.1; RFC 1950, section 2.2). */
const BEGINNINGS: Partial<Record<Coding, readonly ((byte: number) => boolean)[]>> = {
  gzip: [0x1f, 0x8b, 0x08].map((wanted) => (byte) => byte === wanted),
  'x-gzip': [0x1f, 0x8b, 0x08].map((wanted) => (byte) => byte === wanted),
  deflate: [(byte) => (byte & 0x0f) === 8 && byte >> 4 <= 7],
};

/**
 * Whether a piece of a body can be part of what is coded: a body that begins wrongly is refused before the rest of it arrives.
 *
 * @param offset - how many bytes of the body came before the piece
 */
export function mayBe(coding: Coding, piece: Buffer, offset: number): boolean {
  const beginning = BEGINNINGS[coding] ?? [];
  return beginning.slice(offset).every((isRight, i) => i >= piece.length || isRight(piece[i] ?? 0));
}

/**
 * Undoes the content codings of whole bodies, a few at a time. A decoder may take a megabyte for a body of one kilobyte, and
 * does not say so: there must not be one for each sender who is slow, nor for each of many bodies that end together.
 */
export class Decoding {
  readonly #turns = new Turns(MAX_AT_ONCE);

  /**
   * Passes on what a body decodes to, piece by piece. Bytes after the end of what is coded are ignored where zlib does that.
   *
   * @param take - takes a piece; what it throws ends the decoding.
   * @throws {RequestError} the body is not what its coding asks for, or not all of it (400); or what `take` throws.
   */
  async decode(body: Buffer, coding: Coding, take: (piece: Buffer) => void): Promise<void> {
    try {
      await this.#turns.take(() => decodeWith(DECODERS[coding](), body, take));
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw HTTP_ERRORS.undecodable(coding);
    }
  }
}

function decodeWith(decoder: Transform, body: Buffer, take: (piece: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.on('end', resolve).on('error', reject);
    decoder.on('data', (piece: Buffer) => {
      try {
        take(piece);
      } catch (error) {
        decoder.destroy(error as Error);
      }
    });
    decoder.end(body);
  });
}
