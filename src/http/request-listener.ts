import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import type { Config } from '../config/config';
import { isAuthority } from './proxies';
import type { Connections } from './connections';
import { HTTP_ERRORS, RequestError } from './errors';
import { MessageMemory } from './content/message-memory';
import type { HttpRequest } from './request';
import type { RateLimit } from './rate-limit';
import type { HttpResponse } from './response';
import { memoized } from '../util/text';

/** The pages and the handler of a server, and its limits. */
export interface ServerOptions {
  /** Pages by their path. Each rejects with why its request is refused or has failed. */
  readonly pages: ReadonlyMap<string, (request: HttpRequest, response: HttpResponse) => Promise<void>>;
  /** Answers a request, or calls `next`: with an error when it failed, without one when the request is not for it. */
  readonly handler?: (request: HttpRequest, response: HttpResponse, next: (error?: unknown) => void) => void;
  readonly limits: Config['limits'];
  readonly rate?: RateLimit;
  readonly observer?: ServerObserver;
  /** Certificate and key; without them, plain HTTP. With a `ca`, clients need a certificate of it. */
  readonly tls?: (SecureContextOptions & { readonly ca?: string[] }) | undefined;
}

/** Takes each request of a server to the page or the handler that answers it, and refuses those that are not valid HTTP. */
export class RequestListener {
  readonly #answers: MessageMemory;
  readonly #isAuthority = memoized(isAuthority);
  readonly #idPrefix = randomBytes(6).toString('hex');
  #requests = 0;

  constructor(
    private readonly options: ServerOptions,
    private readonly connections: Connections,
  ) {
    this.#answers = new MessageMemory(options.limits.maxBodyMemory);
  }

  /** Answers a request that arrived. */
  receive(request: HttpRequest, response: HttpResponse): void {
    const connection = this.connections.withHttpOn(request.socket);
    // It was refused, or its caller has gone.
    if (connection === undefined) return;
    request.receivedAt = performance.now();
    request.id = this.#idOf(request);
    response.memory = this.#answers;
    if (this.connections.isServerStopping || isLast(request)) response.shouldKeepAlive = false;
    connection.received(response, this.#begin);
  }

  readonly #begin = (response: HttpResponse): void => {
    const { req: request } = response;
    const answered = this.options.observer?.answered;
    if (answered !== undefined)
      response.once('close', () => answered(request, response, performance.now() - request.receivedAt));
    request.normalizeTarget();
    const problem = protocolProblem(request) ?? this.#hostProblem(request);
    if (problem !== undefined) {
      this.#refuse(response, problem);
      return;
    }
    // Without 100 Continue, Node closes the connection after the answer, as a body might still follow.
    if (request.headers.expect !== undefined && !request.hasBody) response.sendContinue();
    this.#dispatch(request, response);
  };

  #hostProblem({ headers: { host }, rawHeaders, httpVersionMinor }: IncomingMessage): RequestError | undefined {
    const hosts = hostLines(rawHeaders);
    if (hosts > 1) return HTTP_ERRORS.repeatedHost();
    if (hosts === 0 && httpVersionMinor > 0) return HTTP_ERRORS.missingHost();
    return host === undefined || this.#isAuthority(host) ? undefined : HTTP_ERRORS.invalidHost();
  }

  /** The id in `X-Request-Id` if it is harmless, else a new one that is unique among all servers. */
  #idOf({ headers: { 'x-request-id': given } }: HttpRequest): string {
    if (typeof given === 'string' && HARMLESS.test(given)) return given;
    return `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
  }

  #dispatch(request: HttpRequest, response: HttpResponse): void {
    const { path, method } = request;
    const { pages, handler } = this.options;
    const unhandled = (error?: unknown) => this.#refuse(response, error ?? HTTP_ERRORS.nothingHere());
    const page = pages.get(path);
    if (page !== undefined) page(request, response).catch(unhandled);
    // Browsers ask for it beside any document: no refusal.
    else if (path === '/favicon.ico') response.replyError(HTTP_ERRORS.nothingHere());
    else if (path === '*' && method === 'OPTIONS') response.replyWithoutBody({ Allow: 'GET, HEAD, OPTIONS, POST' });
    else if (handler !== undefined) handler(request, response, unhandled);
    else unhandled();
  }

  /** Counts, answers and reports every request that is refused or has failed, apart from calls, which answer themselves. */
  #refuse(response: HttpResponse, error: unknown): void {
    const { rate, observer } = this.options;
    const { req: request } = response;
    const mistake = error instanceof RequestError ? error : undefined;
    // The mistake in the request may make the rest of its connection unreadable.
    if (mistake?.headers?.Connection === 'close') response.shouldKeepAlive = false;
    const refusal = rate?.countedExcess(request) ?? mistake;
    const answer = refusal ?? HTTP_ERRORS.failed(error, 'The request could not be answered.');
    if (!response.headersSent) response.replyError(answer);
    else if (!response.writableEnded) response.destroy();
    observer?.refused(refusal ?? error, response.statusCode, request);
  }
}

/** Ids from outside that can do no harm in a log line, a header field or a query. */
const HARMLESS = /^[\w.:+/=@-]{1,128}$/;

/** Whether the connection ends: HTTP/1.0 has no chunks (RFC 9112, section 6.1), and Node drops what follows an upgrade. */
function isLast({ httpVersionMinor, headers }: IncomingMessage): boolean {
  if (headers.upgrade !== undefined && /upgrade/i.test(headers.connection ?? '')) return true;
  return httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined;
}

/** Finds what Node's parser accepts although HTTP/1.1 (RFC 9112) forbids it, if anything. */
function protocolProblem(request: IncomingMessage): RequestError | undefined {
  const { headers, httpVersion, url = '' } = request;
  if (httpVersion === '0.9') return HTTP_ERRORS.noVersion();
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return HTTP_ERRORS.unsupportedVersion();
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    // Unless chunked is the last one, there is no telling where the body ends (RFC 9112, section 6.3).
    const status = /(?:^|,)[ \t]*chunked$/i.test(coding) ? 501 : 400;
    return HTTP_ERRORS.transferCoding(status);
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue' && httpVersion === '1.1')
    return HTTP_ERRORS.expectation();
  if (!url.startsWith('/') && url !== '*') return HTTP_ERRORS.invalidTarget();
  if (url.includes('#')) return HTTP_ERRORS.fragment();
  return undefined;
}

/** Counts the `Host` lines: Node keeps the first, a proxy may have read another (RFC 9112, section 3.2). */
function hostLines(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    // As nearly all clients write it.
    if (name === 'Host' || (name?.length === 4 && name.toLowerCase() === 'host')) hosts++;
  }
  return hosts;
}

/** Called for what the server answers itself, or does not answer. */
interface ServerObserver {
  /**
   * Called for what was refused (with a {@link RequestError}) or has failed. `status` is that of the answer, if there was one; `from` is the
   * request or, without one, the address of the caller.
   */
  refused(this: void, error: unknown, status: number | undefined, from: HttpRequest | string | undefined): void;
  /** Called when a request was answered or its caller went away, `milliseconds` after its header arrived. */
  readonly answered?: ((request: HttpRequest, response: HttpResponse, milliseconds: number) => void) | undefined;
}
