import { constants } from 'node:crypto';
import {
  request as httpRequest,
  STATUS_CODES,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { getProxyForUrl } from 'proxy-from-env';
import { reasonOf } from '../util/errors';
import { oneLine } from '../util/text';

/** An answer whose body is yet to come. Its connection ends with the body, or when that is destroyed. */
export interface StreamedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

export interface HttpAnswer extends Omit<StreamedAnswer, 'body'> {
  readonly body: Buffer;
  /** Why the body is not whole. */
  readonly cutOff: string | undefined;
}

export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, sent as they are, in place of those of the address. */
  readonly path?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface Reach {
  /** The longest that a whole answer may take, in milliseconds (30,000), beside the time that a large request needs to be sent. */
  readonly timeout?: number;
  /** In PEM; if there are any, they are trusted with those that come with Node, and no others. */
  readonly authorities?: readonly string[];
  /** Accepts any certificate, and versions of TLS that are not safe. */
  readonly isInsecure?: boolean;
  /** Asks no proxy; by default only for names of this machine. */
  readonly isDirect?: boolean;
}

/** The connection of an answer with more bytes is closed. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The slowest that a large request may be sent, in bytes a second. */
const SLOWEST = 64 * 1024;

const SILENCE = 'no answer in time';

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** That there is no whole answer; the message says why. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/**
 * Sends requests of the tools, of `--ready` and of programs, through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. Redirects are
 * answers like any other. Each request has a connection of its own: on a kept connection a surplus second answer would be taken for that of
 * the next request.
 */
export class HttpClient {
  /** Keeps TLS sessions, with which a connection begins sooner. */
  readonly #tls: TlsAgent;

  constructor(private readonly reach: Reach = {}) {
    const { authorities = [], isInsecure } = reach;
    this.#tls = new TlsAgent({
      ...(authorities.length > 0 && { ca: [...rootCertificates, ...authorities] }),
      ...(isInsecure && {
        rejectUnauthorized: false,
        minVersion: 'TLSv1',
        ciphers: 'DEFAULT@SECLEVEL=0',
        secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
      }),
    });
  }

  /** Sends one request, and resolves to its answer if that is whole. User and password of the address go as Basic authentication. */
  async ask(url: URL, outgoing: OutgoingRequest): Promise<HttpAnswer | NoAnswerError> {
    const answer = await this.send(url, outgoing);
    return answer instanceof NoAnswerError || answer.cutOff === undefined ? answer : new NoAnswerError(answer.cutOff);
  }

  /** Sends as {@link ask} does. The body may be cut off: there is no answer only if the header did not come in time. */
  async send(url: URL, outgoing: OutgoingRequest): Promise<HttpAnswer | NoAnswerError> {
    const { timeout: least = 30_000 } = this.reach;
    const timeout = least + Math.floor(Buffer.byteLength(outgoing.body ?? '') / SLOWEST) * 1000;
    const signal = AbortSignal.timeout(timeout);
    const seconds = String(timeout / 1000);
    try {
      const answer = await wholeOf(await this.open(url, outgoing, signal, 0));
      // A body that ends with the connection looks whole if the time-out ended the connection.
      return signal.aborted ? { ...answer, cutOff: `the answer was not complete within ${seconds} s` } : answer;
    } catch (cause) {
      if (cause instanceof NoAnswerError) return cause;
      return new NoAnswerError(signal.aborted ? `there was no answer within ${seconds} s` : reasonOf(cause), { cause });
    }
  }

  /**
   * Sends as {@link ask} does, and resolves to the answer once its header is there; rejects if there is none.
   *
   * @param signal - ends the connection.
   * @param silence - the longest wait for the header, and for each part of the body, in milliseconds; 0: no limit.
   */
  async open(
    url: URL,
    { method, path = url.pathname + url.search, headers, body = '' }: OutgoingRequest,
    signal: AbortSignal,
    silence: number,
  ): Promise<StreamedAnswer> {
    const length = Buffer.byteLength(body);
    const fields = { Host: url.host, ...(length > 0 && { 'Content-Length': length }), ...headers };
    const request = { ...urlToHttpOptions(url), method, path, headers: fields, signal };
    const proxy = this.reach.isDirect || LOOPBACK.test(url.hostname) ? '' : getProxyForUrl(url.href);
    if (proxy === '') return answerOf(await this.#exchange(request, silence, body));
    try {
      const { auth: user, ...to } = urlToHttpOptions(new URL(proxy));
      const pass = user ? { 'Proxy-Authorization': `Basic ${Buffer.from(user).toString('base64')}` } : {};
      if (url.protocol === 'http:') {
        const passedOn = { ...request, ...to, path: url.origin + path, headers: { ...fields, ...pass } };
        return answerOf(await this.#exchange(passedOn, silence, body));
      }
      const host = `${url.hostname}:${url.port || '443'}`;
      const asking = { ...to, method: 'CONNECT', path: host, headers: { Host: host, ...pass }, signal };
      const { statusCode = 0, socket } = await this.#exchange(asking, silence);
      if (statusCode !== 200) throw new Error(`its answer was ${statusText(statusCode)}`);
      return answerOf(await this.#exchange({ ...request, socket }, silence, body));
    } catch (error) {
      // The text may hold a password.
      const name = URL.canParse(proxy) ? `${new URL(proxy).protocol}//${new URL(proxy).host} ` : '';
      const variable = `${url.protocol.slice(0, -1).toUpperCase()}_PROXY`;
      const reason = signal.aborted ? SILENCE : reasonOf(error);
      throw new NoAnswerError(`through the proxy ${name}of ${variable}: ${reason}`, { cause: error });
    }
  }

  /** Resolves once the header of the answer is there; after CONNECT, its connection is the tunnel. */
  #exchange(
    options: RequestOptions & { readonly socket?: Socket },
    silence: number,
    body: string | Buffer = '',
  ): Promise<IncomingMessage> {
    const isTls = options.protocol === 'https:';
    const sent = (isTls ? httpsRequest : httpRequest)({ ...options, agent: isTls ? this.#tls : false });
    return new Promise((resolve, reject) => {
      let answer: IncomingMessage | undefined;
      sent.on('socket', (socket) => {
        socket.setTimeout(silence).on('timeout', () => {
          // Nothing comes while the answer's reader is busy with what came before.
          if (answer?.readableLength) socket.setTimeout(silence);
          else (answer ?? sent).destroy(new Error(SILENCE));
        });
      });
      sent.once('connect', resolve).once('upgrade', resolve);
      sent.once('response', (response) => {
        // With a listener, an error waits in the stream for a reader who comes later.
        answer = response.on('error', () => undefined).once('close', () => sent.destroy());
        resolve(response);
      });
      sent.on('error', reject).end(body);
    });
  }
}

/** Reads an answer to its end, or as much as is there if it is cut off. */
export async function wholeOf({ body, ...header }: StreamedAnswer, maxBytes = MAX_BYTES): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let cutOff: string | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxBytes) continue;
      cutOff = `the answer is longer than ${String(maxBytes / 1024)} KiB`;
      break;
    }
  } catch (error) {
    cutOff = reasonOf(error);
  }
  return { ...header, body: Buffer.concat(chunks), cutOff };
}

/** @throws the status is not that of an answer. */
function answerOf(response: IncomingMessage): StreamedAnswer {
  const { statusCode: status = 0, headers } = response;
  if (status < 200) {
    response.socket.destroy();
    throw new Error(`its answer has the status ${String(status).padStart(3, '0')}, not one from 200 on`);
  }
  return { status, headers, body: response };
}

/** Writes a status as messages show it: `404 Not Found`. */
export function statusText(status: number): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** An answer on one line; the text of one that took the request, or redirects it, says nothing more. */
export function answerText({ status, body }: HttpAnswer, milliseconds: number): string {
  const text = status < 400 ? '' : oneLine(body.toString().trim());
  const first = `${statusText(status)} (${milliseconds.toFixed(0)} ms)`;
  return first + (text === '' ? '' : `: ${text}`);
}

/** Says whether a status means that the same request may succeed later (RFC 9110 and RFC 6585). */
export function isTemporary(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** The first pause before a request is sent again, in milliseconds. */
const FIRST_PAUSE = 500;

/** The longest that a server can make a client wait with `Retry-After`, in milliseconds. */
const LONGEST_RETRY_AFTER = 5 * 60_000;

/**
 * How long to wait after a number of attempts, in milliseconds: twice as long each time, up to the longest, less random jitter of up
 * to a half, so that clients that lost the same server do not come back together. `Retry-After` makes it longer.
 */
export function pauseAfter(attempts: number, longest: number, retryAfter?: string): number {
  const pause = Math.min(FIRST_PAUSE * 2 ** (attempts - 1), longest);
  const asked = retryAfter === undefined ? 0 : retryAfterMilliseconds(retryAfter);
  return Math.max(pause * (1 - Math.random() / 2), Math.min(asked, LONGEST_RETRY_AFTER));
}

/** Reads `Retry-After` (RFC 9110, section 10.2.3), seconds or a date; 0 for any other text. */
function retryAfterMilliseconds(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  return / GMT$/.test(text) ? Date.parse(text) - Date.now() || 0 : 0;
}
