import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import type { Limits } from '../config/config';
import type { AdminPages } from './admin';
import { isAuthority } from './callers';
import type { AcceptTurns, Connections } from './connection/connections';
import { sendContinue, skipBody } from './content/body';
import { HTTP_ERRORS, RequestError, type Refusal } from './errors';
import { replyError, replyWithoutBody, SMALL_ANSWER } from './reply';
import { hasBody, MessageMemory, type HttpRequest } from './request';

/** What a server serves, and under which limits. */
export interface ServerOptions {
  readonly pages: AdminPages;
  /** Answers what is for no page. */
  readonly handler?: Handler;
  readonly limits: Limits;
  readonly observer: ServerObserver;
  /** Certificate and key; without them, plain HTTP. With a `ca`, clients need a certificate of it. */
  readonly tls?: SecureContextOptions | undefined;
}

/**
 * Takes each request of a server from its header to the page or the handler that answers it. Refuses those that are not valid
 * HTTP, and what a handler leaves to the server.
 */
export class Reception {
  readonly #options: ServerOptions;
  readonly #connections: Connections;
  readonly #turns: AcceptTurns;
  readonly #answers: MessageMemory;
  readonly #idPrefix = randomBytes(6).toString('hex');
  #requests = 0;
  #isEnding = false;

  constructor(options: ServerOptions, connections: Connections, turns: AcceptTurns) {
    this.#options = options;
    this.#connections = connections;
    this.#turns = turns;
    this.#answers = new MessageMemory(options.limits.maxBodyMemory, SMALL_ANSWER);
  }

  /** From now on each answer ends its connection. */
  end(): void {
    this.#isEnding = true;
    this.#connections.announceEnd();
  }

  /** Answers a request that arrived, unless its connection has ended before. */
  receive(request: HttpRequest, response: ServerResponse<HttpRequest>): void {
    const { observer } = this.#options;
    const connection = this.#connections.of(request.socket);
    // After an answer with which the connection ends, nothing is acted on that could not be answered.
    if (connection === undefined || connection.isEnding || connection.last?.shouldKeepAlive === false) {
      connection?.ignored();
      return;
    }
    request.receivedAt = performance.now();
    request.id = this.#idOf(request);
    request.answers = this.#answers;
    const isInTurn = connection.received(response);
    if (this.#isEnding || isFaulty(request)) response.shouldKeepAlive = false;
    const { answered } = observer;
    if (answered !== undefined) {
      response.once('close', () => {
        answered(request, response, performance.now() - request.receivedAt);
      });
    }
    if (!isInTurn) {
      connection.close();
      this.#refuse(response, HTTP_ERRORS.pipelined());
      return;
    }
    normalizeTarget(request);
    const problem = protocolProblem(request);
    if (problem !== undefined) {
      this.#refuse(response, problem);
      return;
    }
    if (this.#turns.areConnections) {
      this.#turns.defer(() => {
        this.#accept(request, response);
      });
    } else this.#accept(request, response);
  }

  /** The id in `X-Request-Id` where it is harmless, else a new one that is unique among all servers. */
  #idOf({ headers: { 'x-request-id': given } }: HttpRequest): string {
    if (typeof given === 'string' && HARMLESS.test(given)) return given;
    return `${this.#idPrefix}-${(++this.#requests).toString(36)}`;
  }

  /** Passes on a valid request, after the body of a GET or HEAD, which has no use. */
  #accept(request: HttpRequest, response: ServerResponse): void {
    // With a promise that was not kept, Node would close the connection: the caller might still send its body.
    if (request.headers.expect !== undefined && !hasBody(request)) sendContinue(response);
    if (hasBody(request) && (request.method === 'GET' || request.method === 'HEAD')) {
      skipBody(request, response).then(
        () => {
          this.#dispatch(request, response);
        },
        (error: unknown) => {
          this.#unhandled(response, error);
        },
      );
    } else this.#dispatch(request, response);
  }

  #dispatch(request: HttpRequest, response: ServerResponse): void {
    const { url = '', method } = request;
    const { pages, handler } = this.#options;
    const unhandled = (error?: unknown): void => {
      this.#unhandled(response, error);
    };
    const page = pages.get(url);
    if (page !== undefined) page(request, response).catch(unhandled);
    else if (url === '*' && method === 'OPTIONS')
      replyWithoutBody(response, 204, { Allow: 'GET, HEAD, OPTIONS, POST' });
    else if (handler !== undefined) handler(request, response, unhandled);
    else unhandled();
  }

  #unhandled(response: ServerResponse, error: unknown): void {
    if (response.headersSent) response.destroy();
    else if (error === undefined || error === null) this.#refuse(response, HTTP_ERRORS.nothingHere());
    else if (error instanceof RequestError) this.#refuse(response, error);
    else if ((error as { status?: unknown }).status === 400) this.#refuse(response, HTTP_ERRORS.invalidAddress());
    else replyError(response, HTTP_ERRORS.failed());
  }

  #refuse(response: ServerResponse, error: RequestError): void {
    const { req: request } = response;
    const { refusal, message: reason, status } = error;
    const { remoteAddress } = request.socket;
    this.#options.observer.refused({ refusal, reason, status, remoteAddress, request });
    replyError(response, error);
  }
}

/** An id from outside is kept when it can do no harm in a log line, a header field or a query. */
const HARMLESS = /^[\w.:+/=@-]{1,128}$/;

/** Whether a request of HTTP/1.0 claims to come in chunks, which that version does not know (RFC 9112, section 6.1). */
function isFaulty({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined;
}

/**
 * Turns a target in absolute form, as proxies write it (RFC 9112, section 3.2.2), into `Host` and origin form, and writes the
 * path in its normal form, which all other code expects. Leaves any other target as it is.
 */
function normalizeTarget(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/')) {
    if (MAY_BE_UNUSUAL.test(url)) request.url = normalized(url);
    return;
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.headers.host = host;
  request.url = normalized(pathname + search);
}

const MAY_BE_UNUSUAL = /%|\/[/.]/;
const ESCAPED_UNRESERVED = /%(?:4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae]|3\d|2[de])/gi;

/**
 * Writes the path of a target in origin form in its normal form: without escapes of unreserved characters and without dot
 * segments (RFC 3986, sections 6.2.2.2 and 6.2.2.3), and with one slash for several, as IIS does.
 */
function normalized(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  if (!MAY_BE_UNUSUAL.test(path)) return target;
  const unescaped = path.replace(ESCAPED_UNRESERVED, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
  const kept: string[] = [];
  const segments = unescaped.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment === '' || segment === '.' || segment === '..') {
      if (isLast) kept.push('');
    } else kept.push(segment);
  }
  return `/${kept.join('/')}${target.slice(path.length)}`;
}

/** Finds what Node's parser accepts although HTTP/1.1 (RFC 9112) forbids it, if anything. */
function protocolProblem(request: IncomingMessage): RequestError | undefined {
  const { headers, httpVersion, rawHeaders, url = '' } = request;
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
  if (isHostRepeated(rawHeaders)) return HTTP_ERRORS.repeatedHost();
  // With HTTP/1.0 it may be missing.
  if (headers.host !== undefined && !isAuthority(headers.host)) return HTTP_ERRORS.invalidHost();
  return undefined;
}

/** Node keeps the first of several `Host` lines, a proxy may have read another (RFC 9112, section 3.2). */
function isHostRepeated(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** Answers a request, or calls `next`: with an error when it failed, without one when the request is not for it. */
export type Handler = (request: HttpRequest, response: ServerResponse, next: (error?: unknown) => void) => void;

/** A request or connection that was refused before a handler saw it, or by a handler that left the answer to the server. */
export interface Refused {
  readonly refusal: Refusal;
  /** Why, as a sentence. */
  readonly reason: string;
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined;
  /** The address of the connection. */
  readonly remoteAddress: string | undefined;
  /** Undefined if none could be read. */
  readonly request?: IncomingMessage;
}

/** Observes what no handler sees. */
export interface ServerObserver {
  refused(this: void, refused: Refused): void;
  /** Called when a request was answered or its caller went away, with the time since its header arrived. */
  readonly answered?: ((request: IncomingMessage, response: ServerResponse, milliseconds: number) => void) | undefined;
}
