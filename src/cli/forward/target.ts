import { Agent as HttpAgent, request as requestHttp, STATUS_CODES, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { quoted } from '../terminal';

/** What became of one attempt to deliver. */
export type Answer =
  | {
      readonly status: number;
      /** What the target says about it, on one line. */
      readonly summary: string;
      readonly location: string | undefined;
      readonly retryAfter: string | undefined;
    }
  /** Why there is no answer, on one line. */
  | { readonly failure: string };

/** How long one attempt may take, in milliseconds, its whole answer included; a large event gets time to be sent besides. */
const ATTEMPT_TIMEOUT = 30_000;

/** The slowest that a large event may be sent, in bytes a second. */
const SLOWEST = 64 * 1024;

/** Most bytes of an answer that are read: the connection of a longer one is closed. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Where events are forwarded to: an http or https address, over one connection that is kept. */
export class Target {
  readonly #url: URL;
  readonly #timeout: number;
  readonly #isTls: boolean;
  readonly #agent: HttpAgent;

  constructor(url: URL, timeout = ATTEMPT_TIMEOUT) {
    this.#url = url;
    this.#timeout = timeout;
    this.#isTls = url.protocol === 'https:';
    this.#agent = new (this.#isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 });
  }

  /** The address as messages show it: paths and queries of webhooks hold secrets, as users and passwords do. */
  get name(): string {
    return this.#url.origin;
  }

  /** Posts once. Redirects are answers like any other. Never rejects. */
  post(body: Buffer, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const timeout = this.#timeout + Math.floor(body.length / SLOWEST) * 1000;
    const signal = AbortSignal.timeout(timeout);
    return new Promise((resolve) => {
      const sent = {
        method: 'POST',
        agent: this.#agent,
        signal,
        headers: { ...headers, 'Content-Length': body.length },
      };
      const outgoing = (this.#isTls ? requestHttps : requestHttp)(this.#url, sent, (response) => {
        // What goes wrong after the header changes nothing about the answer.
        outgoing.off('error', fail).on('error', () => undefined);
        void answerOf(response).then(resolve);
      });
      const fail = (error: Error): void => {
        const seconds = String(timeout / 1000);
        resolve({ failure: signal.aborted ? `there was no answer within ${seconds} s` : quoted(reasonOf(error)) });
      };
      outgoing.on('error', fail);
      outgoing.end(body);
    });
  }

  /** Closes the connection. */
  close(): void {
    this.#agent.destroy();
  }
}

/** Resolves once the answer has ended, in whatever way: its header says what became of the event. */
async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on('error', () => undefined);
  await new Promise((resolve) => response.once('close', resolve));
  const status = response.statusCode ?? 0;
  const text = quoted(Buffer.concat(chunks).toString().trim());
  return {
    status,
    summary: `${String(status)} ${STATUS_CODES[status] ?? ''}`.trim() + (text === '' ? '' : `: ${text}`),
    location: response.headers.location,
    retryAfter: response.headers['retry-after'],
  };
}

/** A host with several addresses has an error for each, under one without a message. */
function reasonOf(error: Error): string {
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : [];
  return (first ?? error).message;
}
