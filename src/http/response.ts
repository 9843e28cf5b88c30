import { ServerResponse, type OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { HTTP_ERRORS, type RequestError } from './errors';
import { Turns } from './content/unstreamed-message';
import type { MessageMemory } from './content/message-memory';
import type { HttpRequest } from './request';

/** A cache may keep a reply for one caller, and asks before it uses it again. */
const CACHE_CONTROL = 'private, max-age=0';

/** Bytes of an answer that the socket is given at a time: TLS holds them a second time, encrypted. */
const PART_BYTES = 65_536;

/** Compressing fewer characters saves less than the header field costs. */
const MIN_LENGTH = 1024;

const CODINGS = ['gzip', 'identity'];
const gzipAsync = promisify<Buffer, Buffer>(gzip);

/** The response to a request, as the servers make it. */
export class HttpResponse extends ServerResponse<HttpRequest> {
  /** Counts its bytes until it is sent, if it came through a server. */
  memory: MessageMemory | undefined;

  /** Tells a caller that waits with its body to send it (RFC 9110, section 10.1.1); HTTP/1.0 does not know that. */
  sendContinue(): void {
    if (this.req.httpVersionMinor > 0) this.writeContinue();
  }

  static fieldsOf(contentType: string, body: string | Buffer): OutgoingHttpHeaders {
    return {
      'Cache-Control': CACHE_CONTROL,
      'Content-Type': contentType,
      'Content-Length': Buffer.byteLength(body),
    };
  }

  /** Sends a whole reply, never chunked; to `HEAD` the header alone. Throws 503, and sends nothing, if too many bytes of answers wait. */
  reply(status: number, contentType: string, body: string | Buffer, headers?: OutgoingHttpHeaders): void {
    // Measuring a long text takes as long as encoding it, and it would stay in the heap until the caller has taken the answer.
    const content = typeof body === 'string' && body.length > PART_BYTES ? Buffer.from(body) : body;
    // Spreading would cost as much as the rest of this function.
    const fields = HttpResponse.fieldsOf(contentType, content);
    this.reserve(Number(fields['Content-Length']));
    fields['X-Request-Id'] = this.req.id;
    if (headers !== undefined) Object.assign(fields, headers);
    this.#end(status, fields, content);
  }

  replyText(status: number, text: string, headers?: OutgoingHttpHeaders): void {
    const fields = { 'X-Content-Type-Options': 'nosniff', ...headers };
    this.reply(status, 'text/plain; charset=utf-8', `${text}\n`, fields);
  }

  replyError({ status, message, headers }: RequestError): void {
    this.replyText(status, message, headers);
  }

  /** Sends header fields alone, with status 204. */
  replyWithoutBody(headers?: OutgoingHttpHeaders): void {
    this.#end(204, { 'Cache-Control': CACHE_CONTROL, 'X-Request-Id': this.req.id, ...headers });
  }

  /**
   * Sends a whole reply with status 200, compressed if `Accept-Encoding` prefers that, and with `Vary` (RFC 9110, section 12.5.5): one in
   * `headers` replaces it, so it must name Accept-Encoding. Throws as {@link reply}. Returns void when sent at once: awaiting costs a turn.
   */
  replyCompressed(contentType: string, body: string, headers?: OutgoingHttpHeaders): void | Promise<void> {
    const isLong = body.length >= MIN_LENGTH;
    const fields = isLong ? { Vary: 'Accept-Encoding', ...headers } : headers;
    const isAsked = isLong && this.req.headers['accept-encoding'] !== undefined;
    if (!isAsked || new Negotiator(this.req).encoding(CODINGS) !== 'gzip') {
      this.reply(200, contentType, body, fields);
      return;
    }
    const bytes = Buffer.from(body);
    this.reserve(bytes.length);
    return gzipAsync(bytes).then((compressed) => {
      this.reply(200, contentType, compressed, { 'Content-Encoding': 'gzip', ...fields });
    });
  }

  /**
   * Sends a reply with status 200 part by part, as fast as the caller takes it; to `HEAD` the header alone. Resolves also if the caller
   * has gone. `stop` closes the connection, as does an error of `parts` after the first one. The parts {@link reserve} their own room.
   */
  async replyInParts(
    contentType: string,
    parts: AsyncGenerator<Buffer>,
    headers: OutgoingHttpHeaders,
    stop: AbortSignal,
  ): Promise<void> {
    const isHead = this.req.method === 'HEAD';
    try {
      const first = isHead ? undefined : await parts.next();
      this.writeHead(200, { 'Content-Type': contentType, 'X-Request-Id': this.req.id, ...headers });
      const all = async function* () {
        if (first?.done === false) yield first.value;
        yield* parts;
      };
      if (isHead) this.end();
      else await pipeline(all, this, { signal: stop });
    } catch (error) {
      if (!stop.aborted) throw error;
      this.destroy();
    }
  }

  /** Counts bytes, in place of those before, until they are sent. Throws a {@link RequestError} 503 if too many of others wait. */
  reserve(bytes: number): void {
    const { memory } = this;
    if (memory?.resize(this, bytes) === false) throw HTTP_ERRORS.answerMemory(memory.maxBytes);
  }

  #end(status: number, fields: OutgoingHttpHeaders, body?: string | Buffer): void {
    // Negated, as the length is NaN if it comes in chunks.
    if (!this.req.complete && !(this.req.bodyLength <= MAX_DROPPED)) {
      fields.Connection = 'close';
      stopReading(this.req);
    }
    // Before the header is made, so that requests that arrive after this one are not acted on.
    if (fields.Connection === 'close') this.shouldKeepAlive = false;
    this.writeHead(status, fields);
    if (body instanceof Buffer && body.length > PART_BYTES) void pipeline(partsOf(body), this).catch(() => undefined);
    else {
      if (body !== undefined) this.#writeAtOnce(body, Number(fields['Content-Length']));
      this.end();
    }
  }

  /** Writes header and body as one piece: `end` with a body makes it two, and the `writev` for them costs 2 µs of a call. */
  #writeAtOnce(body: string | Buffer, bytes: number): void {
    // A text of as many characters as bytes is ASCII, which is written fastest as Latin-1.
    if (typeof body === 'string' && body.length === bytes) this.write(body, 'latin1');
    else this.write(body);
    this.socket?.uncork();
  }
}

/* eslint-disable @typescript-eslint/no-namespace, @typescript-eslint/no-empty-object-type --
   as Express's types are extended: its routers pass on the requests and responses of our servers. */
declare global {
  namespace Express {
    interface Request extends HttpRequest {}
    interface Response extends HttpResponse {}
  }
}
/* eslint-enable */

/** Requests with at most this many bytes, read or not, keep their connection. */
const MAX_DROPPED = 65_536;

/**
 * How many bytes of a larger one are read and dropped, so that a sender that only writes gets to read the answer. Without a limit a few
 * such senders take half a core until they are cut off.
 */
const MAX_DISCARDED = 4 * 1024 * 1024;

/** The turns of all requests whose rest is read and dropped. */
const discards = new Turns();

/** Reads the rest of a request and drops it, a piece of one request at a time. */
function stopReading(request: HttpRequest): void {
  let left = MAX_DISCARDED;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    request.pause();
    if (left >= 0) void discards.next(request).then(() => request.resume());
  });
  request.on('error', () => undefined);
  // Node would otherwise drop all of it once the answer is sent.
  request.resume().read(0);
}

function* partsOf(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += PART_BYTES) yield body.subarray(start, start + PART_BYTES);
}
