import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAuthority } from '../address/authority';
import type { AdminPages } from '../admin';
import type { Arrivals } from '../connection/arrivals';
import type { Connections } from '../connection/connections';
import { skipBody } from '../content/body';
import { HTTP_ERRORS, RequestError } from '../errors';
import { replyError, replyWithoutBody } from '../reply';
import { RequestIds } from '../request-id';
import type { Handler } from './handler';
import { hasBody, type HttpRequest } from './http-request';
import type { ServerObserver } from './observer';
import { normalizeTarget, protocolProblem } from './protocol';

/** Who answers requests. */
export interface ReceptionOptions {
  readonly pages: AdminPages;
  /** Answers what is for no page. */
  readonly handler: Handler;
  readonly observer: ServerObserver;
}

/**
 * Takes each request of a server from its header to the page or the handler that answers it. Refuses those that are not valid
 * HTTP, and what a handler leaves to the server.
 */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #connections: Connections;
  readonly #arrivals: Arrivals;
  readonly #requestIds = new RequestIds();
  /** The last `Host` that was found valid: nearly every request has the same. */
  #validHost = '';
  #isEnding = false;

  constructor(options: ReceptionOptions, connections: Connections, arrivals: Arrivals) {
    this.#options = options;
    this.#connections = connections;
    this.#arrivals = arrivals;
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
    this.#requestIds.identify(request);
    const isInTurn = connection.received(response);
    if (this.#isEnding || isFaulty(request)) response.shouldKeepAlive = false;
    const { answered } = observer;
    if (answered !== undefined) {
      const started = performance.now();
      response.once('close', () => {
        answered(request, response, performance.now() - started);
      });
    }
    if (!isInTurn) {
      connection.close();
      this.#refuse(response, HTTP_ERRORS.pipelined());
      return;
    }
    normalizeTarget(request);
    const problem = protocolProblem(request) ?? this.#hostProblem(request);
    if (problem !== undefined) {
      this.#refuse(response, problem);
      return;
    }
    if (this.#arrivals.isGoingOn) {
      this.#arrivals.wait(() => {
        this.#accept(request, response);
      });
    } else this.#accept(request, response);
  }

  /** Has a valid request answered; what GET and HEAD have as a body is not for anybody. */
  #accept(request: HttpRequest, response: ServerResponse): void {
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
    const page = this.#options.pages.get(url);
    if (page !== undefined) void page(request, response);
    else if (url === '*' && method === 'OPTIONS')
      replyWithoutBody(response, 204, { Allow: 'GET, HEAD, OPTIONS, POST' });
    else {
      this.#options.handler(request, response, (error) => {
        this.#unhandled(response, error);
      });
    }
  }

  /** `Host` must be a valid authority. It may be missing with HTTP/1.0. */
  #hostProblem({ headers: { host } }: IncomingMessage): RequestError | undefined {
    if (host === undefined || host === this.#validHost) return undefined;
    if (!isAuthority(host)) return HTTP_ERRORS.invalidHost();
    this.#validHost = host;
    return undefined;
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

/** Whether a request of HTTP/1.0 claims to come in chunks, which that version does not know (RFC 9112, section 6.1). */
function isFaulty({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined;
}
