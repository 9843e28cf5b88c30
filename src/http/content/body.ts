import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HTTP_ERRORS, RequestError } from '../errors';
import { GrowingBuffer, hasBody, MessageMemory, type HttpRequest } from '../request';
import { Turns } from '../../util/promises';

const EMPTY = Buffer.alloc(0);

/** The most bytes of a body, as it arrives and after `Content-Encoding` is undone, and what is said of one with more. */
export interface BodyLimit {
  readonly maxBytes: number;
  refusal(this: void): RequestError;
}

/** Reads request bodies whole, within a limit for each and one for all large bodies that are held at the same time. */
export class BodyReader {
  readonly #limit: BodyLimit;
  readonly #memory: MessageMemory;
  readonly #decoding = new Decoding();

  /**
   * @param maxBytes - most bytes of one body, as it arrives and after `Content-Encoding` is undone
   * @param maxTotalBytes - most bytes of all large bodies whose calls are not answered yet
   */
  constructor(maxBytes: number, maxTotalBytes: number) {
    this.#limit = { maxBytes, refusal: () => HTTP_ERRORS.bodyTooLarge(maxBytes) };
    this.#memory = new MessageMemory(maxTotalBytes, SMALL_BODY);
  }

  /**
   * Resolves to the body after `Content-Encoding` is undone; empty where the request has none. Sends `100 Continue` to a
   * caller that waits for it, once nothing in the header speaks against the body. Call it once for each request.
   *
   * @param lower - a lower limit for this body
   * @throws {RequestError} the body is larger than allowed (413, or the refusal of the lower limit), in an unknown content
   * coding (415), broken or cut short (400), or no memory is left for it (503). The rest of it is then not read.
   */
  read(request: HttpRequest, response: ServerResponse, lower?: BodyLimit): Promise<Buffer> {
    const { headers } = request;
    const limit = lower !== undefined && lower.maxBytes < this.#limit.maxBytes ? lower : this.#limit;
    const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
    if (!hasBody(request)) return Promise.resolve(EMPTY);
    if (length !== undefined && length > limit.maxBytes) return Promise.reject(limit.refusal());
    const { failure } = request;
    if (failure !== undefined) return Promise.reject(failure);
    const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
    if (coding !== 'identity' && !isCoding(coding)) return Promise.reject(HTTP_ERRORS.contentCoding(coding));
    const isSmall = length !== undefined && length <= SMALL_BODY;
    let body: Promise<Buffer>;
    if (isSmall && coding === 'identity') body = request.takeBody(length);
    else {
      const arrived = receive(request, (bytes, piece) => {
        if (coding !== 'identity' && !mayBe(coding, piece, bytes - piece.length))
          return HTTP_ERRORS.undecodable(coding);
        return this.#refusal(bytes, limit, response);
      });
      body = coding === 'identity' ? arrived : this.#decode(arrived, coding, limit, response);
    }
    if (headers.expect !== undefined) sendContinue(response);
    return body;
  }

  /** Gives back the room of the body that was read with a response, once nothing holds it any more. */
  release(response: ServerResponse): void {
    this.#memory.release(response);
  }

  /** Counts the bytes of a body. Returns why it may not have that many. */
  #refusal(bytes: number, { maxBytes, refusal }: BodyLimit, response: ServerResponse): RequestError | undefined {
    if (bytes <= maxBytes && this.#memory.resize(response, bytes)) return undefined;
    this.release(response);
    return bytes > maxBytes ? refusal() : HTTP_ERRORS.bodyMemory(this.#memory.maxBytes);
  }

  async #decode(
    arrived: Promise<Buffer>,
    coding: Coding,
    { maxBytes, refusal }: BodyLimit,
    response: ServerResponse,
  ): Promise<Buffer> {
    const coded = await arrived;
    const body = new GrowingBuffer();
    try {
      await this.#decoding.decode(coded, coding, (piece) => {
        const bytes = body.length + piece.length;
        if (bytes > maxBytes) throw refusal();
        // What was coded is held beside it, but that of four bodies at most.
        if (!this.#memory.resize(response, Math.max(bytes, coded.length)))
          throw HTTP_ERRORS.bodyMemory(this.#memory.maxBytes);
        body.add(piece);
      });
    } catch (error) {
      this.release(response);
      throw error;
    }
    this.#memory.resize(response, body.length);
    return body.take();
  }
}

/**
 * Waits for the end of a body that is not used: a request whose body is broken is not carried out.
 *
 * @throws {RequestError} 400: the body is broken or cut short; 413: it is larger than 64 KiB
 */
export function skipBody(request: HttpRequest, response: ServerResponse): Promise<void> {
  const { failure, headers } = request;
  if (failure !== undefined) return Promise.reject(failure);
  const tooLarge = () => HTTP_ERRORS.unneededBodyTooLarge(String(request.method), SMALL_BODY);
  if (Number(headers['content-length'] ?? 0) > SMALL_BODY) return Promise.reject(tooLarge());
  const skipped = receive(request, (bytes) => (bytes > SMALL_BODY ? tooLarge() : undefined));
  if (headers.expect !== undefined) sendContinue(response);
  return skipped.then(() => undefined);
}

/** Resolves to a body once all of it has arrived. `refusal` tells of each length and the last piece why it may not be. */
function receive(
  request: HttpRequest,
  refusal: (bytes: number, piece: Buffer) => RequestError | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    const take = (piece: Buffer): void => {
      const error = refusal(body.length + piece.length, piece);
      if (error === undefined) body.add(piece);
      else fail(error);
    };
    const end = (): void => {
      forget();
      resolve(body.take());
    };
    const fail = (error: Error): void => {
      forget();
      request.pause();
      reject(error instanceof RequestError ? error : HTTP_ERRORS.cutShort());
    };
    // A call that waits would hold its body by way of these.
    const forget = (): void => {
      request.off('data', take).off('end', end).off('error', fail);
    };
    request.on('data', take).on('end', end).on('error', fail);
  });
}

/** Tells a caller that waits with its body to send it (RFC 9110, section 10.1.1); HTTP/1.0 does not know that. */
export function sendContinue(response: ServerResponse): void {
  if (response.req.httpVersionMinor > 0) response.writeContinue();
}

/** Bodies of up to this many bytes do not count: on all connections together they take less than a process has. */
export const SMALL_BODY = 65_536;

/** A content coding that can be undone (RFC 9110, section 8.4.1). */
export type Coding = 'gzip' | 'x-gzip' | 'deflate' | 'br';

/** How a coding is undone, and which bytes its first ones may be. */
interface Decoder {
  readonly create: () => Transform;
  readonly beginning: readonly (readonly number[])[];
}

/** RFC 1952, section 2.3.1 */
const GZIP: Decoder = { create: () => createGunzip(), beginning: [[0x1f], [0x8b], [0x08]] };

/** RFC 1950, section 2.2: the method is 8, the window at most 32 KiB. */
const DEFLATE: Decoder = {
  create: () => createInflate(),
  beginning: [[0x08, 0x18, 0x28, 0x38, 0x48, 0x58, 0x68, 0x78]],
};

const DECODERS: Readonly<Record<Coding, Decoder>> = {
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: DEFLATE,
  br: { create: () => createBrotliDecompress(), beginning: [] },
};

/** As many bodies are decoded at once as Node has threads for it. */
const MAX_AT_ONCE = 4;

/** Whether a content coding can be undone. */
export function isCoding(name: string): name is Coding {
  return Object.hasOwn(DECODERS, name);
}

/** Whether a piece at an offset can belong to a body in this coding: one that begins wrongly is refused before the rest arrives. */
function mayBe(coding: Coding, piece: Buffer, offset: number): boolean {
  const { beginning } = DECODERS[coding];
  return beginning.slice(offset).every((allowed, i) => i >= piece.length || allowed.includes(piece[i] ?? 0));
}

/**
 * Undoes the content codings of whole bodies, a few at a time: a decoder may take a megabyte for a body of one kilobyte, which
 * nothing counts.
 */
export class Decoding {
  readonly #turns = new Turns(MAX_AT_ONCE);

  /**
   * Gives `take` what a body decodes to, piece by piece. Bytes after the end of what is coded are ignored where zlib does that.
   *
   * @throws {RequestError} 400: the body is not valid in its coding, or cut short; or what `take` throws.
   */
  async decode(body: Buffer, coding: Coding, take: (piece: Buffer) => void): Promise<void> {
    try {
      await this.#turns.take(async () => {
        const decoder = DECODERS[coding].create();
        decoder.end(body);
        for await (const piece of decoder) take(piece as Buffer);
      });
    } catch (error) {
      if (error instanceof RequestError) throw error;
      throw HTTP_ERRORS.undecodable(coding);
    }
  }
}
