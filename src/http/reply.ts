import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import Negotiator from 'negotiator';
import { closeInSteps } from './connections';
import { HTTP_ERRORS, type RequestError } from './errors';
import { requestId, type HttpRequest } from './request';

/** Replies depend on the caller and on the log: a cache may keep them for one caller and asks before it uses them again. */
const CACHE_CONTROL = 'private, max-age=0';

/** The header fields that every reply has. */
export function replyHeaders(contentType: string, body: string | Buffer): OutgoingHttpHeaders {
  return {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  };
}

/** Answers of up to this many bytes do not count: those that may wait on one connection take no more than their requests. */
export const SMALL_ANSWER = 4096;

/** Bytes of an answer that the socket is given at a time: TLS holds them a second time, encrypted. */
const PART_BYTES = 65_536;

/** Counts the bytes of an answer until it is sent. Throws a {@link RequestError} 503 where too many bytes of others wait. */
function countAnswer(response: ServerResponse, bytes: number): void {
  const { answers } = response.req as Partial<HttpRequest>;
  if (answers === undefined) return;
  if (!answers.resize(response, bytes)) throw HTTP_ERRORS.answerMemory(answers.maxBytes);
}

/**
 * Sends a whole reply, with `Content-Length` and never chunked. `HEAD` gets the header alone.
 *
 * @throws {RequestError} 503: too many bytes of answers wait for their callers. Nothing is sent.
 */
export function reply(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Buffer,
  headers?: OutgoingHttpHeaders,
): void {
  // Spreading would cost as much as the rest of this function.
  const fields = replyHeaders(contentType, body);
  countAnswer(response, Number(fields['Content-Length']));
  fields['X-Request-Id'] = requestId(response.req);
  if (headers !== undefined) Object.assign(fields, headers);
  end(response, status, fields, body);
}

function end(response: ServerResponse, status: number, fields: OutgoingHttpHeaders, body?: string | Buffer): void {
  if (hasMuchToCome(response.req)) {
    fields.Connection = 'close';
    stopReading(response.req);
  }
  // Before the header is made, so that requests that arrive after this one are not acted on.
  if (fields.Connection === 'close') response.shouldKeepAlive = false;
  response.writeHead(status, fields);
  if (body === undefined || body.length <= PART_BYTES) response.end(body);
  // A string would stay in the heap until the caller has taken the answer, and V8 lets several times as much garbage pile up.
  else void pipeline(partsOf(typeof body === 'string' ? Buffer.from(body) : body), response).catch(() => undefined);
}

/** Requests of which at most this many bytes are unread keep their connection: the bytes are read and dropped. */
const MAX_DROPPED = 65_536;

/** How many bytes of a larger request are read and dropped, so that a sender that only writes gets to read the answer. */
const MAX_DISCARDED = 4 * 1024 * 1024;

/** Whether so much of a request may still arrive that its connection is better closed than kept. */
function hasMuchToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > MAX_DROPPED;
}

/**
 * Closes the connection of an answered request without reading the rest of the request. A socket that is closed with unread
 * bytes resets the connection, and the peer may lose the answer: so a little more is read, and the socket is closed in two
 * steps (RFC 9112, section 9.6).
 */
function stopReading(request: IncomingMessage): void {
  let left = MAX_DISCARDED;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.on('error', () => undefined);
  // Node would otherwise drop all of it once the answer is sent.
  request.resume().read(0);
  request.socket.destroySoon = () => {
    closeInSteps(request.socket);
  };
}

function* partsOf(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += PART_BYTES) yield body.subarray(start, start + PART_BYTES);
}

/**
 * Sends a reply with status 200 part by part, as fast as the caller takes it. `HEAD` gets the header alone. Resolves also where
 * the caller has gone.
 *
 * @param stop - closes the connection, which tells the caller that the reply is not complete.
 * @throws a part could not be made; the connection is closed.
 */
export async function replyInParts(
  response: ServerResponse,
  contentType: string,
  parts: AsyncIterable<string | Buffer>,
  headers: OutgoingHttpHeaders,
  stop: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': contentType, 'X-Request-Id': requestId(response.req), ...headers });
  try {
    if (response.req.method === 'HEAD') response.end();
    else await pipeline(parts, response, { signal: stop });
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

/** Sends header fields alone: 204, or 304 with those of the reply that the caller has (RFC 9110, section 15.4.5). */
export function replyWithoutBody(response: ServerResponse, status: 204 | 304, headers: OutgoingHttpHeaders): void {
  end(response, status, { 'Cache-Control': CACHE_CONTROL, 'X-Request-Id': requestId(response.req), ...headers });
}

/** Sends an error as `text/plain`. */
export function replyError(response: ServerResponse, { status, message, headers }: RequestError): void {
  replyText(response, status, message, headers);
}

/** Sends one line of `text/plain`. */
export function replyText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  reply(response, status, 'text/plain; charset=utf-8', `${text}\n`, {
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
}

/** Returns the one of some content codings that a caller likes best; undefined if that is none of them. */
export function preferredCoding(request: IncomingMessage, codings: readonly string[]): string | undefined {
  if (request.headers['accept-encoding'] === undefined) return undefined;
  return new Negotiator(request).encoding([...codings, 'identity']);
}

/** Compressing fewer characters saves less than the header field costs. */
const MIN_LENGTH = 1024;

/** The default quality of Brotli suits files that are compressed once. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const brotliAsync = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const gzipAsync = promisify<Buffer, Buffer>(gzip);

const COMPRESS = {
  br: (body: Buffer) => brotliAsync(body, BROTLI),
  gzip: (body: Buffer) => gzipAsync(body),
};

/**
 * Sends a whole reply with status 200, compressed if that is worth it and `Accept-Encoding` prefers br or gzip, else at
 * once. A reply that may be compressed has `Vary: Accept-Encoding`, whether it is or not (RFC 9110, section 12.5.5).
 *
 * @param headers - further header fields; a `Vary` among them must name Accept-Encoding too
 * @throws {RequestError} as {@link reply}.
 */
export function replyCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  contentType: string,
  body: string,
  headers?: OutgoingHttpHeaders,
): void | Promise<void> {
  if (body.length < MIN_LENGTH) {
    reply(response, 200, contentType, body, headers);
    return;
  }
  const fields = { Vary: 'Accept-Encoding', ...headers };
  const coding = preferredCoding(request, ['br', 'gzip']);
  if (coding !== 'br' && coding !== 'gzip') {
    reply(response, 200, contentType, body, fields);
    return;
  }
  const bytes = Buffer.from(body);
  countAnswer(response, bytes.length);
  return COMPRESS[coding](bytes).then((compressed) => {
    reply(response, 200, contentType, compressed, { 'Content-Encoding': coding, ...fields });
  });
}
