import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Limits, ListenAddress } from '../config/config';
import { isAuthority } from './address/authority';
import type { AdminPages } from './admin';
import { Arrivals } from './connection/arrivals';
import { lastAnswer } from './connection/connection';
import { Connections } from './connection/connections';
import { stopDeadline, stopListening } from './connection/stop';
import { seconds, unreadable, type ParserError } from './connection/unreadable';
import { skipBody } from './content/body';
import { hasBody, HttpRequest } from './content/http-request';
import { normalizeTarget, protocolProblem } from './protocol';
import { replyText, replyWithoutBody } from './reply';
import { RequestError, type Refusal } from './request-error';
import { RequestIds } from './request-id';

/** Answers a request, or calls `next`: with an error when it failed, without one when the request is not for it. */
export type Handler = (request: HttpRequest, response: ServerResponse, next: (error?: unknown) => void) => void;

/** The handler of a server that has only its pages. */
export const noHandler: Handler = (_request, _response, next) => {
  next();
};

/** A request or connection that was refused before a handler saw it, or by a handler that left the answer to the server. */
export interface Refused {
  readonly refusal: Refusal;
  /** Why, as a sentence. */
  readonly reason: string;
  /** HTTP status of the answer; undefined: there was none. */
  readonly status: number | undefined;
  /** The address of the connection. */
  readonly remoteAddress: string | undefined;
  /** Undefined: none could be read. */
  readonly request?: IncomingMessage;
}

/** Is told what no handler sees. */
export interface ServerObserver {
  refused(this: void, refused: Refused): void;
  /**
   * A request was answered, or its caller went away, so many milliseconds after its header arrived. Undefined: nobody wants
   * to know.
   */
  readonly answered?: ((request: IncomingMessage, response: ServerResponse, milliseconds: number) => void) | undefined;
}

/** What a server serves, and under which limits. */
export interface ServerOptions {
  readonly pages: AdminPages;
  readonly limits: Limits;
  readonly observer: ServerObserver;
  /** Certificate and key; undefined: plain HTTP. With a `ca`, clients need a certificate of it. */
  readonly tls?: SecureContextOptions | undefined;
}

/** Load balancers keep idle connections for a minute, and must be the first to close them. */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** How often requests that take too long to arrive are looked for, in milliseconds. */
const TIMEOUT_CHECK_INTERVAL = 1000;

/**
 * How many connections may wait to be accepted, up to what the system allows (Linux: `net.core.somaxconn`). More than
 * Node's 511, since a client that is not let in tries again only after a second.
 */
const BACKLOG = 4096;

/** How long an idle connection stays open for its next call when another process takes over, in milliseconds. */
const HANDOVER_TIMEOUT = 5000;

/** The HTTP server: the admin pages, and one handler for everything else. */
export class HttpServer {
  readonly #server: Server<typeof HttpRequest> | TlsServer<typeof HttpRequest>;
  readonly #handler: Handler;
  readonly #options: ServerOptions;
  readonly #connections: Connections;
  readonly #arrivals = new Arrivals();
  readonly #requestIds = new RequestIds();
  /** The last `Host` that was found valid: nearly every request has the same. */
  #validHost = '';
  #stopping = false;

  constructor(handler: Handler, options: ServerOptions) {
    const { limits, observer, tls } = options;
    this.#handler = handler;
    this.#options = options;
    this.#connections = new Connections(limits.sendTimeout, ({ accepted }) => {
      const reason = `A caller did not take its answer in ${seconds(limits.sendTimeout)} (SEND_TIMEOUT).`;
      observer.refused({ refusal: 'timeout', reason, status: undefined, remoteAddress: accepted.remoteAddress });
    });
    const settings = {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
      maxHeaderSize: limits.maxHeaderBytes,
      IncomingMessage: HttpRequest,
    };
    const answer = (request: HttpRequest, response: ServerResponse<HttpRequest>): void => {
      this.#answer(request, response);
    };
    if (tls === undefined) this.#server = createServer(settings, answer);
    else {
      const mutual = { requestCert: tls.ca !== undefined, rejectUnauthorized: tls.ca !== undefined };
      const handshakeTimeout = limits.headersTimeout;
      this.#server = createTlsServer({ ...settings, ...tls, ...mutual, handshakeTimeout }, answer);
      this.#server.on('secureConnection', (socket: TLSSocket) => {
        this.#connections.opened(socket);
      });
    }
    // A body that will be refused is not asked for: whoever reads it sends 100 Continue.
    this.#server.on('checkContinue', answer);
    this.#server.on('checkExpectation', answer);
    this.#server.on('connect', ({ socket }: IncomingMessage) => {
      this.#refuseTunnel(socket);
    });
    // A caller that has ended its side still gets its answers.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    this.#server.on('connection', (socket: Socket) => {
      this.#connected(socket);
    });
    this.#server.on('clientError', (error: ParserError, socket) => {
      this.#unreadable(error, socket as Socket);
    });
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#connections.count;
  }

  #connected(socket: Socket): void {
    const { limits, observer, tls } = this.#options;
    if (this.#connections.count < limits.maxConnections) {
      this.#connections.accepted(socket);
      if (tls === undefined) {
        this.#connections.opened(socket);
        this.#arrivals.add(socket);
      }
      return;
    }
    const text = `Too many connections: more than ${String(limits.maxConnections)} (MAX_CONNECTIONS).`;
    const status = tls === undefined ? 503 : undefined;
    observer.refused({ refusal: 'busy', reason: text, status, remoteAddress: socket.remoteAddress });
    if (tls !== undefined) {
      socket.destroy();
      return;
    }
    socket.write(lastAnswer(503, text, 'Retry-After: 1\r\n'));
    // Not counted as open, and so closed at once.
    socket.destroySoon();
  }

  #refuseTunnel(socket: Socket): void {
    const text = 'CONNECT is not supported.';
    const { remoteAddress } = socket;
    this.#options.observer.refused({ refusal: 'invalid', reason: text, status: 405, remoteAddress });
    // From here on Node leaves the socket alone.
    socket.on('error', () => undefined).resume();
    this.#connections.of(socket)?.refuse(405, text, 'Allow: GET, HEAD, OPTIONS, POST\r\n');
  }

  /** What arrived is not a request, or did not arrive in time. Earlier requests get their answers before this is told. */
  #unreadable(problem: ParserError, socket: Socket): void {
    const connection = this.#connections.of(socket);
    if (connection === undefined || socket.destroyed || problem.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (connection.isEnding) return;
    const error = unreadable(problem, this.#options.limits);
    const { last } = connection;
    if (last?.headersSent && last.statusCode >= 400 && !last.shouldKeepAlive) {
      // The caller has been told already that its last request was wrong and the connection ends.
      connection.close();
      return;
    }
    if (last === undefined || last.req.complete) {
      const { status, message: reason, refusal } = error;
      this.#options.observer.refused({ refusal, reason, status, remoteAddress: socket.remoteAddress });
      connection.refuse(error.status, error.message);
      return;
    }
    // The body of the last request ends wrongly. Its handler answers: with the error if it reads the body.
    last.shouldKeepAlive = false;
    connection.close();
    last.req.fail(error);
  }

  #answer(request: HttpRequest, response: ServerResponse<HttpRequest>): void {
    const { observer } = this.#options;
    const connection = this.#connections.of(request.socket);
    // After an answer with which the connection ends, nothing is acted on that could not be answered.
    if (connection === undefined || connection.isEnding || connection.last?.shouldKeepAlive === false) {
      connection?.ignored();
      return;
    }
    this.#requestIds.identify(request);
    const isInTurn = connection.received(response);
    if (this.#stopping || isFaulty(request)) response.shouldKeepAlive = false;
    const { answered } = observer;
    if (answered !== undefined) {
      const started = performance.now();
      response.once('close', () => {
        answered(request, response, performance.now() - started);
      });
    }
    if (!isInTurn) {
      connection.close();
      const text = 'Too many requests wait on one connection.';
      this.#refuse(response, new RequestError(503, text, 'busy', { Connection: 'close', 'Retry-After': '1' }));
      return;
    }
    normalizeTarget(request);
    const problem = protocolProblem(request) ?? this.#hostProblem(request);
    if (problem !== undefined) {
      this.#refuse(response, problem);
      return;
    }
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
      this.#handler(request, response, (error) => {
        this.#unhandled(response, error);
      });
    }
  }

  /** `Host` must be a valid authority. It may be missing with HTTP/1.0. */
  #hostProblem({ headers: { host } }: IncomingMessage): RequestError | undefined {
    if (host === undefined || host === this.#validHost) return undefined;
    if (!isAuthority(host)) return new RequestError(400, 'The Host header is not a valid authority.');
    this.#validHost = host;
    return undefined;
  }

  #unhandled(response: ServerResponse, error: unknown): void {
    if (response.headersSent) response.destroy();
    else if (error === undefined || error === null)
      this.#refuse(response, new RequestError(404, 'There is nothing at this address.'));
    else if (error instanceof RequestError) this.#refuse(response, error);
    else if ((error as { status?: unknown }).status === 400)
      this.#refuse(response, new RequestError(400, 'The address is not valid.'));
    else replyText(response, 500, 'The request could not be answered.');
  }

  #refuse(response: ServerResponse, { status, message, refusal, headers }: RequestError): void {
    const { req: request } = response;
    const { remoteAddress } = request.socket;
    this.#options.observer.refused({ refusal, reason: message, status, remoteAddress, request });
    replyText(response, status, message, headers);
  }

  /** Uses these certificates for new connections. A server without TLS stays without. */
  replaceTls(tls: SecureContextOptions): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(tls);
  }

  /**
   * Starts to listen; resolves to the port.
   *
   * @throws the address is in use, or not one of this machine.
   */
  listen({ port, host, inherited }: ListenAddress): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      const listening = (): void => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      };
      if (inherited === undefined) this.#server.listen({ port, host, backlog: BACKLOG }, listening);
      else this.#server.listen(inherited.handle, BACKLOG, listening);
    });
  }

  /**
   * Stops accepting connections and ends those without a call.
   *
   * @param deadline - when what is still open is ended, in the time of `performance.now()`; without it, in ten seconds
   * @returns resolves when no connection is open
   */
  close(deadline?: number): Promise<void> {
    return this.#stop(0, deadline);
  }

  /**
   * Does what {@link close} does where another process takes over the port. Idle connections are closed after five seconds
   * and not at once, since a caller may be about to send on one; its answer then tells it that the connection ends.
   */
  handOver(deadline?: number): Promise<void> {
    return this.#stop(HANDOVER_TIMEOUT, deadline);
  }

  #stop(idleTimeout: number, deadline = stopDeadline()): Promise<void> {
    this.#stopping = true;
    this.#connections.announceEnd();
    return stopListening(this.#server, this.#connections, performance.now() + idleTimeout, deadline);
  }
}

/** Whether a request of HTTP/1.0 claims to come in chunks, which that version does not know (RFC 9112, section 6.1). */
function isFaulty({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined;
}
