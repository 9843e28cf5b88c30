import type { IncomingMessage, ServerResponse } from 'node:http';
import { raw } from 'express';
import type { HttpError } from 'http-errors';
import { RequestError } from './request-error';

/**
 * Reads a request's body whole; an empty buffer where there is none.
 *
 * @throws {RequestError} the body is larger than allowed (413), in an unknown content coding (415), or broken (400).
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
        else reject(requestError(error as HttpError, request, maxBytes));
      });
    });
}

function requestError({ status, message }: HttpError, request: IncomingMessage, maxBytes: number): RequestError {
  if (status === 413) {
    return new RequestError(413, `Maximum request length exceeded: the body has more than ${String(maxBytes)} bytes.`);
  }
  const coding = request.headers['content-encoding'];
  if (status === 400 && coding !== undefined) {
    return new RequestError(400, `The request body cannot be read: it is not valid ${coding}.`);
  }
  return new RequestError(status, `The request body cannot be read: ${message}.`);
}
