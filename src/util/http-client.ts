import { constants } from 'node:crypto';
import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent, request as requestHttps } from 'node:https';
import { rootCertificates } from 'node:tls';
import { reasonOf } from './reason';

/** The answer of a server. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Why the body is not whole. */
  readonly cutOff: string | undefined;
}

/** One request. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, sent as they are, in place of those of the address. */
  readonly path?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

/** How servers are reached. */
export interface Reach {
  /** The longest that a whole answer may take, in milliseconds, beside the time that a large request needs to be sent. */
  readonly timeout: number;
  /** Authorities in PEM that are trusted besides those that Node knows. */
  readonly ca?: string | undefined;
  /** Accepts any certificate, and versions of TLS that are not safe. */
  readonly isInsecure?: boolean;
}

/** The slowest that a large request may be sent, in bytes a second. */
const SLOWEST = 64 * 1024;

/** Thrown when there is no whole answer; the message says why. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** Returns a {@link NoAnswerError}, for `catch` of a promise; throws any other error again. */
export function noAnswer(error: unknown): NoAnswerError {
  if (error instanceof NoAnswerError) return error;
  throw error;
}

/**
 * Sends requests of the tools, of `--ready` and of programs. Redirects are answers like any other. Each request has a connection of its own: on
 * one that is kept, a second answer to the request before would be taken for the answer to the next.
 */
export class HttpClient {
  readonly #timeout: number;
  readonly #maxBytes: number;
  readonly #tls: RequestOptions & Record<string, unknown>;
  /** Keeps TLS sessions, with which a connection begins sooner. */
  readonly #tlsAgent = new Agent();

  /** @param maxBytes - the most bytes of a body that are read. */
  constructor({ timeout, ca, isInsecure = false }: Reach, maxBytes: number) {
    this.#timeout = timeout;
    this.#maxBytes = maxBytes;
    this.#tls = {
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      ...(isInsecure && {
        rejectUnauthorized: false,
        minVersion: 'TLSv1',
        ciphers: 'DEFAULT@SECLEVEL=0',
        secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
      }),
    };
  }

  /**
   * Sends one request; user and password of the address go as Basic authentication. The body may be cut off.
   *
   * @throws {NoAnswerError} the header did not come in time, or not at all.
   */
  async send(url: URL, outgoing: OutgoingRequest): Promise<HttpAnswer> {
    const timeout = this.#timeout + Math.floor(Buffer.byteLength(outgoing.body ?? '') / SLOWEST) * 1000;
    const signal = AbortSignal.timeout(timeout);
    const seconds = String(timeout / 1000);
    try {
      const answer = await this.#answerOf(await this.open(url, outgoing, signal));
      // A body that ends with the connection looks whole if the time-out ended the connection.
      return signal.aborted ? { ...answer, cutOff: `the answer was not complete within ${seconds} s` } : answer;
    } catch (error) {
      throw new NoAnswerError(signal.aborted ? `there was no answer within ${seconds} s` : reasonOf(error), {
        cause: error,
      });
    }
  }

  /**
   * Sends one request as {@link send} does, and resolves to the answer once its header is there.
   *
   * @param signal - ends the connection.
   * @throws there is none.
   */
  async open(
    url: URL,
    { method, path, headers, body = '' }: OutgoingRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const isTls = url.protocol === 'https:';
    const contentLength = (method === 'POST' || body.length > 0) && { 'Content-Length': Buffer.byteLength(body) };
    const agent = isTls && this.#tlsAgent;
    const place = path === undefined ? {} : { path };
    const options = {
      ...(isTls && this.#tls),
      ...place,
      method,
      agent,
      signal,
      headers: { ...headers, ...contentLength },
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = (isTls ? requestHttps : requestHttp)(url, options, resolve);
      outgoing.on('error', reject);
      // Without a listener, a switch of protocols would settle nothing.
      outgoing.on('upgrade', resolve);
      outgoing.end(body);
    });
    const { statusCode = 0 } = response;
    if (statusCode >= 200) return response;
    response.destroy();
    throw new Error(`the answer ${String(statusCode)} is not one to this request`);
  }

  /**
   * Sends as {@link send} does.
   *
   * @throws {NoAnswerError} also if the body was cut off.
   */
  async ask(url: URL, question: OutgoingRequest): Promise<HttpAnswer> {
    const answer = await this.send(url, question);
    if (answer.cutOff !== undefined) throw new NoAnswerError(answer.cutOff);
    return answer;
  }

  async #answerOf(response: IncomingMessage): Promise<HttpAnswer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let cutOff: string | undefined;
    const maxBytes = this.#maxBytes;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes <= maxBytes) continue;
        cutOff = `the answer is longer than ${String(maxBytes / 1024)} KiB`;
        break;
      }
    } catch (error) {
      cutOff = reasonOf(error);
    }
    const { statusCode: status = 0, headers } = response;
    return { status, headers, body: Buffer.concat(chunks), cutOff };
  }
}
