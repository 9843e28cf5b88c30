import type { IncomingMessage, ServerResponse } from 'node:http';
import { raw } from 'express';
import type { HttpError } from 'http-errors';
import { RequestError } from './request-error';

/**
 * Reads a request's body whole; an empty buffer where there is none.
 *
 * @throws {RequestError} the body is larger than allowed (413), in an unknown content coding (415), or broken (400), or
 * there is no memory for it now (503).
 */
export type ReadBody = (request: IncomingMessage, response: ServerResponse) => Promise<Buffer>;

const EMPTY = Buffer.alloc(0);

/** Bodies up to this size are not counted: with all connections in use they stay below what a process has. */
const SMALL = 65_536;

/**
 * Makes a reader for bodies of at most so many bytes, counted after `Content-Encoding` gzip, deflate or br is undone. All
 * large ones whose calls are not answered yet have at most `maxTotalBytes`, so that no number of slow senders can fill
 * the memory.
 */
export function bodyReader(maxBytes: number, maxTotalBytes: number): ReadBody {
  const parse = raw({ type: () => true, limit: maxBytes });
  const memory = new BodyMemory(maxBytes, maxTotalBytes);
  return (request: IncomingMessage & { body?: Buffer }, response) =>
    new Promise((resolve, reject) => {
      parse(request, response, (error?: unknown) => {
        if (error === undefined) resolve(request.body ?? EMPTY);
        else reject(requestError(error as HttpError, request, maxBytes));
      });
      if (!isSmall(request)) memory.count(request, response, reject);
    });
}

function isSmall({ headers }: IncomingMessage): boolean {
  if (headers['content-encoding'] !== undefined) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] === undefined : Number(length) <= SMALL;
}

/** Counts the bytes of large bodies as they arrive, until their calls are answered. */
class BodyMemory {
  readonly #maxBytes: number;
  readonly #maxTotalBytes: number;
  #total = 0;

  constructor(maxBytes: number, maxTotalBytes: number) {
    this.#maxBytes = maxBytes;
    this.#maxTotalBytes = maxTotalBytes;
  }

  /** Counts one request; calls `refuse` when it does not fit. */
  count(request: IncomingMessage, response: ServerResponse, refuse: (error: RequestError) => void): void {
    const compressed = request.headers['content-encoding'] !== undefined;
    let bytes = 0;
    let closed = false;
    request.on('data', (chunk: Buffer) => {
      // What was received before the connection broke is told also after it.
      if (closed) return;
      // What a compressed body becomes is known too late, so it counts as much as it may become.
      const more = compressed ? this.#maxBytes - bytes : Math.min(chunk.length, this.#maxBytes - bytes);
      bytes += more;
      this.#total += more;
      if (this.#total > this.#maxTotalBytes) refuse(this.#refusal());
    });
    response.once('close', () => {
      closed = true;
      this.#total -= bytes;
    });
  }

  #refusal(): RequestError {
    const max = String(this.#maxTotalBytes);
    const text = `Too many large requests at once: their bodies have more than ${max} bytes together (MAX_BODY_MEMORY).`;
    return new RequestError(503, text, 'busy', { 'Retry-After': '1', Connection: 'close' });
  }
}

function requestError({ status, message }: HttpError, request: IncomingMessage, maxBytes: number): RequestError {
  if (status === 413) {
    const text = `Maximum request length exceeded: the body has more than ${String(maxBytes)} bytes (MAX_REQUEST_BYTES).`;
    return new RequestError(413, text, 'too-large');
  }
  const coding = request.headers['content-encoding'];
  if (status === 400 && coding !== undefined) {
    return new RequestError(400, `The request body cannot be read: it is not valid ${coding}.`);
  }
  return new RequestError(status, `The request body cannot be read: ${message}.`);
}
