import type { IncomingMessage, ServerResponse } from 'node:http';
import { raw } from 'express';
import type { HttpError } from 'http-errors';

/** Thrown when a request's body cannot be taken; the message names why. */
export class BodyError extends Error {
  override readonly name = 'BodyError';

  constructor(
    /** HTTP status that tells it: 413 too large, 415 unknown content coding, 400 anything else. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Reads a request's body whole; an empty buffer where there is none.
 *
 * @throws {BodyError} the body is larger than allowed, broken off, or in a content coding that cannot be undone.
 */
export type ReadBody = (request: IncomingMessage, response: ServerResponse) => Promise<Buffer>;

const EMPTY = Buffer.alloc(0);

/** Makes a reader for bodies of at most so many bytes, counted after `Content-Encoding` gzip, deflate or br is undone. */
export function bodyReader(maxBytes: number): ReadBody {
  const parse = raw({ type: () => true, limit: maxBytes });
  return (request: IncomingMessage & { body?: Buffer }, response) =>
    new Promise((resolve, reject) => {
      parse(request, response, (error?: unknown) => {
        if (error === undefined) resolve(request.body ?? EMPTY);
        else reject(bodyError(error as HttpError, request, maxBytes));
      });
    });
}

function bodyError({ status, message }: HttpError, request: IncomingMessage, maxBytes: number): BodyError {
  if (status === 413) {
    return new BodyError(413, `Maximum request length exceeded: the body has more than ${String(maxBytes)} bytes.`);
  }
  const coding = request.headers['content-encoding'];
  if (status === 400 && coding !== undefined) {
    return new BodyError(400, `The request body cannot be read: it is not valid ${coding}.`);
  }
  return new BodyError(status, `The request body cannot be read: ${message}.`);
}
