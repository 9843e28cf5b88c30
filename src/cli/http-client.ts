import { Agent as HttpAgent, request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { constants } from 'node:crypto';
import { rootCertificates } from 'node:tls';

/** What a server answered. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. A field that came several times has its values in one, separated by commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** One request. */
export interface Question {
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How servers are reached. */
export interface ClientOptions {
  /** Authorities in PEM that are trusted besides those that Node knows. */
  readonly ca: string | undefined;
  /** Whether any certificate is taken, and versions of TLS that are not safe. */
  readonly isInsecure: boolean;
  /** The longest that a whole answer may take, in milliseconds. */
  readonly timeout: number;
}

/** Thrown when there is no answer; the message says why and, if that is known, what to do. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** Most bytes of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const ADVICE: ReadonlyMap<string, string> = new Map([
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'].map(
    (code): [string, string] => [code, 'Name the authority that signed its certificate with --ca FILE.'],
  ),
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'Name the authority that signed its certificate with --ca FILE.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Use the name that its certificate has, or --insecure.'],
  ['CERT_HAS_EXPIRED', 'Renew its certificate, or use --insecure.'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'It speaks only old versions of TLS, which --insecure allows.'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'It speaks only old versions of TLS, which --insecure allows.'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'It does not speak TLS at this port: try http.'],
  ['ECONNREFUSED', 'Nothing listens there: check host and port, and whether the service runs.'],
  ['ENOTFOUND', 'Its name is unknown: check the host.'],
]);

/** Sends requests, each on a connection of its own. Redirects are answers like any other. */
export class Client {
  readonly #tls: RequestOptions & Record<string, unknown>;
  readonly #timeout: number;

  constructor({ ca, isInsecure, timeout }: ClientOptions) {
    this.#timeout = timeout;
    this.#tls = {
      ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      ...(isInsecure
        ? {
            rejectUnauthorized: false,
            minVersion: 'TLSv1',
            ciphers: 'DEFAULT@SECLEVEL=0',
            secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT,
          }
        : {}),
    };
  }

  /**
   * Sends one request; user and password of the address go as Basic authentication.
   *
   * @throws {NoAnswerError} there is no whole answer in time, or it is longer than 4 MiB.
   */
  async ask(url: URL, { method, headers = {}, body }: Question): Promise<Answer> {
    const signal = AbortSignal.timeout(this.#timeout);
    const isTls = url.protocol === 'https:';
    const agent = new (isTls ? HttpsAgent : HttpAgent)();
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const options = { ...(isTls ? this.#tls : {}), method, agent, signal, headers: { ...headers, ...length } };
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const outgoing = (isTls ? requestHttps : requestHttp)(url, options, resolve);
        outgoing.on('error', reject);
        outgoing.end(body);
      });
      return await answerOf(response);
    } catch (error) {
      if (error instanceof NoAnswerError) throw error;
      if (signal.aborted) throw new NoAnswerError(`there was no answer within ${String(this.#timeout / 1000)} s`);
      throw new NoAnswerError(reasonOf(error as Error));
    } finally {
      agent.destroy();
    }
  }
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      response.destroy();
      throw new NoAnswerError('the answer is longer than 4 MiB');
    }
    chunks.push(chunk);
  }
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
  return { status: response.statusCode ?? 0, headers: new Map(headers), body: Buffer.concat(chunks) };
}

/** A host with several addresses has an error for each, under one without a message. */
function reasonOf(error: Error): string {
  const [first = error] = error instanceof AggregateError ? (error.errors as Error[]) : [];
  const advice = ADVICE.get((first as NodeJS.ErrnoException).code ?? '');
  return advice === undefined ? first.message : `${first.message}. ${advice}`;
}
