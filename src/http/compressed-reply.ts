import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import Negotiator from 'negotiator';
import { reply } from './reply';

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
 * Sends a whole reply with status 200, compressed where that is worth it and `Accept-Encoding` prefers br or gzip. A reply
 * that may be compressed has `Vary: Accept-Encoding`, whether it is or not (RFC 9110, section 12.5.5). Without compression it
 * is sent at once.
 *
 * @param headers - further header fields; a `Vary` among them must name Accept-Encoding too
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
  const coding =
    request.headers['accept-encoding'] === undefined
      ? undefined
      : new Negotiator(request).encoding(['br', 'gzip', 'identity']);
  if (coding !== 'br' && coding !== 'gzip') {
    reply(response, 200, contentType, body, fields);
    return;
  }
  return COMPRESS[coding](Buffer.from(body)).then((compressed) => {
    reply(response, 200, contentType, compressed, { 'Content-Encoding': coding, ...fields });
  });
}
