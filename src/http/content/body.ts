import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RequestError } from '../request-error';
import { BodyMemory, SMALL_BODY } from './body-memory';
import { cutShort, hasBody, type HttpRequest } from '../request/http-request';

const EMPTY = Buffer.alloc(0);

/** Decoders by content coding (RFC 9110, section 8.4.1). */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);

const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** The most bytes of a body, as it arrives and after `Content-Encoding` is undone, and what is said of one with more. */
export interface BodyLimit {
  readonly maxBytes: number;
  refusal(this: void): RequestError;
}

/** Reads request bodies whole, within a limit for each and one for all large bodies that are held at the same time. */
export class BodyReader {
  readonly #limit: BodyLimit;
  readonly #memory: BodyMemory;

  /**
   * @param maxBytes - most bytes of one body, as it arrives and after `Content-Encoding` is undone
   * @param maxTotalBytes - most bytes of all large bodies whose calls are not answered yet
   */
  constructor(maxBytes: number, maxTotalBytes: number) {
    this.#limit = { maxBytes, refusal: () => tooLarge(maxBytes) };
    this.#memory = new BodyMemory(maxTotalBytes);
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
    const coding = headers['content-encoding'];
    if (coding === undefined && length !== undefined && length <= SMALL_BODY) {
      const body = request.takeBody(length);
      if (headers.expect !== undefined) sendContinue(response);
      return body;
    }
    return this.#readCounted(request, response, coding?.trim().toLowerCase() ?? 'identity', limit);
  }

  /** Gives back the room of the body that was read with a response: nobody holds it any more. */
  release(response: ServerResponse): void {
    this.#memory.release(response);
  }

  #readCounted(
    request: HttpRequest,
    response: ServerResponse,
    coding: string,
    { maxBytes, refusal }: BodyLimit,
  ): Promise<Buffer> {
    const createDecoder = DECODERS.get(coding);
    if (createDecoder === undefined && coding !== 'identity') return Promise.reject(unknownCoding(coding));
    const decoder = createDecoder?.();
    const held = this.#memory.hold(response);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let compressedBytes = 0;

    return new Promise((resolve, reject) => {
      let reading: Reading | undefined = { resolve, reject };
      const fail = (error: RequestError): void => {
        request.removeAllListeners('data').unpipe().pause();
        decoder?.removeAllListeners('data').destroy();
        chunks.length = 0;
        held.release();
        reading?.reject(error);
        reading = undefined;
      };
      const onBody = (chunk: Buffer): void => {
        bytes += chunk.length;
        if (bytes > maxBytes) fail(refusal());
        else if (!held.grow(chunk.length)) fail(this.#memory.refusal());
        else chunks.push(chunk);
      };
      const onCompressed = (chunk: Buffer): void => {
        compressedBytes += chunk.length;
        if (compressedBytes > maxBytes) fail(refusal());
      };
      const onEnd = (): void => {
        reading?.resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes));
        reading = undefined;
        chunks.length = 0;
      };
      request.on('error', (error) => {
        fail(requestError(error));
      });
      if (decoder === undefined) request.on('data', onBody).on('end', onEnd);
      else {
        decoder.on('data', onBody).on('end', onEnd);
        decoder.on('error', () => {
          fail(new RequestError(400, `The request body cannot be read: it is not valid ${coding}.`));
        });
        request.on('data', onCompressed).pipe(decoder);
      }
      if (request.headers.expect !== undefined) sendContinue(response);
    });
  }
}

/**
 * Waits for the end of a body that nobody needs: what a request with a broken body asks for is not done.
 *
 * @throws {RequestError} the body is broken or cut short (400), or larger than 64 KiB (413)
 */
export function skipBody(request: HttpRequest, response: ServerResponse): Promise<void> {
  const { failure, headers } = request;
  if (failure !== undefined) return Promise.reject(failure);
  const text = `The body of a ${String(request.method)} request may have at most ${String(SMALL_BODY)} bytes.`;
  if (Number(headers['content-length'] ?? 0) > SMALL_BODY)
    return Promise.reject(new RequestError(413, text, 'too-large'));
  return new Promise((resolve, reject) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= SMALL_BODY) return;
      request.removeAllListeners('data').pause();
      reject(new RequestError(413, text, 'too-large'));
    });
    request.on('end', resolve).on('error', (error) => {
      reject(requestError(error));
    });
    if (headers.expect !== undefined) sendContinue(response);
  });
}

/**
 * Whom the body is for. Listeners stay on a request for as long as it is not answered; once the body is read they forget
 * this, and with it the body, since a call that waits is to hold no more than it needs.
 */
interface Reading {
  readonly resolve: (body: Buffer) => void;
  readonly reject: (error: RequestError) => void;
}

/** Tells a caller that waits with its body to send it (RFC 9110, section 10.1.1); HTTP/1.0 does not know that. */
function sendContinue(response: ServerResponse): void {
  if (response.req.httpVersionMinor > 0) response.writeContinue();
}

function tooLarge(maxBytes: number): RequestError {
  const text = `Maximum request length exceeded: the body has more than ${String(maxBytes)} bytes (MAX_REQUEST_BYTES).`;
  return new RequestError(413, text, 'too-large');
}

function unknownCoding(coding: string): RequestError {
  const text = `The content coding ${coding.slice(0, 40)} is not supported. Send ${ACCEPTED_CODINGS}, or none.`;
  return new RequestError(415, text, 'invalid', { 'Accept-Encoding': ACCEPTED_CODINGS });
}

/** What stopped a body: what {@link HttpRequest.fail} says, or that its connection is gone. */
function requestError(error: Error): RequestError {
  return error instanceof RequestError ? error : cutShort();
}
