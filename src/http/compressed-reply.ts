import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type BrotliOptions } from 'node:zlib';
import Negotiator from 'negotiator';
import { reply } from './reply';

/** Below this many characters compression saves less than its header field costs. */
const MIN_LENGTH = 1024;

/** Brotli's default quality is made for files that are compressed once. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const brotliAsync = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const gzipAsync = promisify<Buffer, Buffer>(gzip);

const COMPRESS = {
  br: (body: Buffer) => brotliAsync(body, BROTLI),
  gzip: (body: Buffer) => gzipAsync(body),
};

/** Sends a whole reply with status 200, compressed where it is worth it and `Accept-Encoding` asks for br or gzip. */
export async function replyCompressed(
  request: IncomingMessage,
  response: ServerResponse,
  contentType: string,
  body: string,
): Promise<void> {
  if (body.length < MIN_LENGTH || request.headers['accept-encoding'] === undefined) {
    reply(response, 200, contentType, body);
    return;
  }
  const vary = { Vary: 'Accept-Encoding' };
  const coding = new Negotiator(request).encoding(['br', 'gzip', 'identity']);
  if (coding !== 'br' && coding !== 'gzip') {
    reply(response, 200, contentType, body, vary);
    return;
  }
  const compressed = await COMPRESS[coding](Buffer.from(body));
  reply(response, 200, contentType, compressed, { 'Content-Encoding': coding, ...vary });
}
