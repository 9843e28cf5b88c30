import { constants } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { reasonOf } from '../util/text';

export interface HttpAnswer {
  readonly status: number;
  /** By names in lower case; values of one name are joined with commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** Why the body is not whole. */
  readonly cutOff: string | undefined;
}

/** An answer whose body is yet to come. */
export type StreamedAnswer = Dispatcher.ResponseData;

export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, sent as they are, in place of those of the address. */
  readonly path?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
}

export interface Reach {
  /** The longest that a whole answer may take, in milliseconds, beside the time that a large request needs to be sent. */
  readonly timeout: number;
  /** Authorities in PEM that are trusted besides those that Node knows. */
  readonly ca?: string | undefined;
  /** Accepts any certificate, and versions of TLS that are not safe. */
  readonly isInsecure?: boolean;
  /** Asks no proxy; by default only for names of this machine. */
  readonly isDirect?: boolean;
}

/** The slowest that a large request may be sent, in bytes a second. */
const SLOWEST = 64 * 1024;

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/** That there is no whole answer; the message says why. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/**
 * Sends requests of the tools, of `--ready` and of programs, through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. Redirects are
 * answers like any other. Each request has a connection of its own: on one that is kept, a second answer to the request before would be
 * taken for the answer to the next.
 */
export class HttpClient {
  readonly #timeout: number;
  readonly #isDirect: boolean;
  /** Keeps TLS sessions, with which a connection begins sooner. */
  readonly #connections: EnvHttpProxyAgent.Options;

  /** @param maxBytes - the most bytes of a body that are read. */
  constructor(
    { timeout, ca, isInsecure = false, isDirect = false }: Reach,
    private readonly maxBytes: number,
  ) {
    this.#timeout = timeout;
    this.#isDirect = isDirect;
    const tls = {
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      ...(isInsecure && {
        rejectUnauthorized: false,
        minVersion: 'TLSv1' as const,
        ciphers: 'DEFAULT@SECLEVEL=0',
        secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
      }),
    };
    this.#connections = { connect: buildConnector({ ...tls, timeout }), requestTls: tls, proxyTunnel: false };
  }

  /** Sends one request, and resolves to its answer if that is whole. User and password of the address go as Basic authentication. */
  async ask(url: URL, question: OutgoingRequest): Promise<HttpAnswer | NoAnswerError> {
    const answer = await this.send(url, question);
    if (answer instanceof NoAnswerError || answer.cutOff === undefined) return answer;
    return new NoAnswerError(answer.cutOff);
  }

  /** Sends as {@link ask} does. The body may be cut off: there is no answer only if the header did not come in time. */
  async send(url: URL, outgoing: OutgoingRequest): Promise<HttpAnswer | NoAnswerError> {
    const timeout = this.#timeout + Math.floor(Buffer.byteLength(outgoing.body ?? '') / SLOWEST) * 1000;
    const signal = AbortSignal.timeout(timeout);
    const seconds = String(timeout / 1000);
    try {
      const answer = await this.#answerOf(await this.open(url, outgoing, signal, 0));
      // A body that ends with the connection looks whole if the time-out ended the connection.
      return signal.aborted ? { ...answer, cutOff: `the answer was not complete within ${seconds} s` } : answer;
    } catch (cause) {
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
    { method, path = url.pathname + url.search, headers, body }: OutgoingRequest,
    signal: AbortSignal,
    silence = this.#timeout,
  ): Promise<StreamedAnswer> {
    const user = [url.username, url.password].map(decodeURIComponent).join(':');
    const credentials = user !== ':' && { Authorization: `Basic ${Buffer.from(user).toString('base64')}` };
    const agent = new (this.#isDirect || LOOPBACK.test(url.hostname) ? Agent : EnvHttpProxyAgent)(this.#connections);
    // After an answer that is not read to its end, undici would make another connection.
    const end = () => void agent.destroy();
    try {
      const response = await agent.request({
        origin: url.origin,
        path,
        method,
        headers: { ...credentials, ...headers },
        body: body === '' ? null : (body ?? null),
        signal,
        reset: true,
        headersTimeout: silence,
        bodyTimeout: silence,
      });
      response.body.on('error', end).on('end', end);
      return response;
    } catch (error) {
      end();
      throw error;
    }
  }

  async #answerOf({ statusCode: status, headers: fields, body }: StreamedAnswer): Promise<HttpAnswer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let cutOff: string | undefined;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes <= this.maxBytes) continue;
        cutOff = `the answer is longer than ${String(this.maxBytes / 1024)} KiB`;
        break;
      }
    } catch (error) {
      cutOff = reasonOf(error);
    }
    const headers = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
    return { status, headers, body: Buffer.concat(chunks), cutOff };
  }
}

/** Writes a status as messages show it: `404 Not Found`. */
export function statusText(status: number): string {
  return `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** Whether a request ended because nothing came for as long as is waited. */
export function isSilence(error: unknown): boolean {
  return /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/.test(String((error as NodeJS.ErrnoException).code));
}
