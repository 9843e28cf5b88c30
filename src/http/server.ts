import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Config } from '../config/config';
import { Connections, lastAnswer, type Connection } from './connections';
import { HTTP_ERRORS, type RequestError } from './errors';
import { RequestListener, type ServerOptions } from './request-listener';
import { HttpRequest, MAX_FIELDS } from './request';
import { HttpResponse } from './response';
import { reasonOf } from '../util/errors';

/** How often requests that take too long to arrive are looked for, in milliseconds, unless a limit is shorter. */
const TIMEOUT_CHECK_INTERVAL = 1000;

/** Most connections that wait to be accepted; the system may allow fewer. With 511, as by default, some wait a second. */
const BACKLOG = 4096;

/** How long calls in flight may take to finish when a server stops, in milliseconds. */
export const STOP_TIMEOUT = 10_000;

/** How often connections without a call are looked for while a server stops, in milliseconds. */
const SWEEP_INTERVAL = 50;

/** The HTTP server: the admin pages, and one handler for everything else. */
export class HttpServer {
  readonly #server:
    Server<typeof HttpRequest, typeof HttpResponse> | TlsServer<typeof HttpRequest, typeof HttpResponse>;
  readonly #options: ServerOptions;
  readonly #connections: Connections;
  #authorities: readonly string[];

  constructor(options: ServerOptions) {
    const { limits, tls } = options;
    this.#options = options;
    this.#authorities = tls?.ca ?? [];
    this.#connections = new Connections(limits.sendTimeout, ({ accepted }, error) => this.#report(error, accepted));
    const connections = this.#connections;
    const listener = new RequestListener(options, connections);
    class Request extends HttpRequest {
      constructor(socket: Socket) {
        super(socket, connections.withHttpOn(socket)?.refusesNext);
      }
    }
    const nodeOptions = {
      keepAliveTimeout: limits.keepAliveTimeout,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL, limits.headersTimeout),
      requireHostHeader: false,
      IncomingMessage: Request,
      ServerResponse: HttpResponse,
    };
    const answer = listener.receive.bind(listener);
    if (tls === undefined) this.#server = createServer(nodeOptions, answer);
    else {
      const mutual = { requestCert: tls.ca !== undefined, rejectUnauthorized: tls.ca !== undefined };
      const handshakeTimeout = limits.headersTimeout;
      this.#server = createTlsServer({ ...nodeOptions, ...tls, ...mutual, handshakeTimeout }, answer);
      this.#server.on('secureConnection', connections.addHttp.bind(connections));
    }
    // 100 Continue is sent by the reader of the body, so that a body that will be refused is never asked for.
    this.#server.on('checkContinue', answer);
    this.#server.on('checkExpectation', answer);
    const refuse = this.#refuseUnread.bind(this);
    this.#server.on('connect', refuse).on('upgrade', refuse);
    // Node ignores the fields after these, or refuses them itself from 22 on: one more than allowed tells that there are too many.
    Object.assign(this.#server, { httpAllowHalfOpen: true, maxHeadersCount: MAX_FIELDS + 1 });
    this.#server.on('connection', this.#connected.bind(this));
    this.#server.on('clientError', (error: ParserError, socket) => this.#unreadable(error, socket as Socket));
  }

  get connections(): number {
    return this.#connections.all.size;
  }

  #connected(socket: Socket): void {
    const { limits, tls } = this.#options;
    if (this.connections < limits.maxConnections) {
      this.#connections.add(socket, tls !== undefined);
      return;
    }
    const error = HTTP_ERRORS.connections(limits.maxConnections);
    this.#report(error, socket, tls === undefined ? error.status : undefined);
    if (tls === undefined) socket.end(lastAnswer(error), () => socket.destroy());
    else socket.destroy();
  }

  /** Answers what never became a request, and closes. A connection on which nothing was sent, as browsers keep, is not reported. */
  #refuse(connection: Connection, error: RequestError): void {
    if (!connection.isUnused) this.#report(error, connection.accepted, error.status);
    connection.close(error);
  }

  /** Refuses a request that was not taken, unless the connection ends with an earlier one. */
  #refuseUnread(request: HttpRequest): void {
    const connection = this.#connections.withHttpOn(request.socket);
    if (connection === undefined) return;
    connection.dropRest();
    const refusal = this.#options.rate?.countedExcess(request) ?? request.refusal();
    if (connection.hasLastAnswer) connection.close();
    else this.#refuse(connection, refusal);
  }

  /** Reports what was refused without a request. */
  #report(error: RequestError, socket?: Socket, status?: number): void {
    this.#options.observer?.refused(error, status, socket?.remoteAddress);
  }

  /** The bytes that arrived are no request, or did not arrive in time. Earlier requests get their answers first. */
  #unreadable(problem: ParserError, socket: Socket): void {
    const connection = this.#connections.withHttpOn(socket);
    if (connection === undefined || socket.destroyed || problem.code === 'ECONNRESET') {
      if (connection === undefined && this.#options.tls) this.#refuseHandshake(problem, socket as TLSSocket);
      socket.destroy();
      return;
    }
    if (connection.isEnding) return;
    const error = errorFor(problem, this.#options.limits);
    const { last } = connection;
    // The caller may have been told already that its last request was wrong and the connection ends.
    if (last?.headersSent && last.statusCode >= 400 && !last.shouldKeepAlive) connection.close();
    else if (last === undefined || last.req.complete) this.#refuse(connection, error);
    else {
      // The body of the last request ends wrongly. Its handler answers: with the error if it reads the body.
      last.shouldKeepAlive = false;
      connection.close();
      last.req.fail(problem.code === 'HPE_INVALID_EOF_STATE' ? HTTP_ERRORS.cutShort() : error);
    }
  }

  /** Reports why TLS was not agreed on, and tells a caller that speaks plain HTTP. */
  #refuseHandshake(problem: ParserError, socket: TLSSocket): void {
    const error = this.#handshakeProblem(problem, socket);
    if (error === undefined) return;
    const plain = problem.code === 'ERR_SSL_HTTP_REQUEST' ? this.#connections.under(socket) : undefined;
    this.#report(error, socket, plain && error.status);
    plain?.accepted.write(lastAnswer(error));
  }

  /** Undefined if the caller went away or has sent nothing. */
  #handshakeProblem({ code = '' }: ParserError, socket: TLSSocket): RequestError | undefined {
    const { limits } = this.#options;
    if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT')
      return this.#connections.under(socket)?.accepted.bytesRead === 0
        ? undefined
        : HTTP_ERRORS.handshakeTimeout(limits.headersTimeout);
    // Node closes the connection itself if a certificate is not one of TLS_CLIENT_CA.
    const { authorizationError } = socket as { authorizationError?: Error | null };
    if (authorizationError) return HTTP_ERRORS.clientCertificate(String(authorizationError));
    return code === 'ECONNRESET' ? undefined : HTTP_ERRORS.handshake(code);
  }

  /** Uses these certificates for new connections, and ends connections of clients whose authority was removed. */
  replaceTls(tls: NonNullable<ServerOptions['tls']>): void {
    if (!('setSecureContext' in this.#server)) return;
    // No session from before can be resumed then.
    this.#server.setSecureContext(tls);
    const { ca = [] } = tls;
    // For a resumed session Node shows no intermediate certificates.
    const isOneRemoved = this.#authorities.some((authority) => !ca.includes(authority));
    this.#authorities = ca;
    if (!isOneRemoved) return;
    const left = ca.map((authority) => new X509Certificate(authority));
    for (const connection of this.#connections.all) connection.closeUnlessVouchedFor(left);
  }

  /**
   * Resolves to the port. Throws, with the system's `code`, if the address is in use or not one of this machine.
   *
   * @param settingPrefix - begins the names of the settings of this address.
   */
  async listen({ port, host }: Pick<Config, 'host' | 'port'>, settingPrefix = ''): Promise<number> {
    const server = this.#server.listen({ port, host, backlog: BACKLOG });
    await once(server, 'listening').catch(async (cause: unknown) => {
      await this.close();
      const { code } = cause as NodeJS.ErrnoException;
      const where = `${host} at port ${String(port)}`;
      const problem = `${where} cannot be used: ${reasonOf(cause)}. Set ${settingPrefix}PORT or ${settingPrefix}HOST.`;
      throw Object.assign(new Error(problem), { code });
    });
    // Node gives every worker the first one's keys, with which a client of a removed TLS_CLIENT_CA could resume its session.
    if ('setTicketKeys' in server) server.setTicketKeys(randomBytes(48));
    // Without a listener, one connection that cannot be accepted would end the process.
    server.on('error', ({ message }) => this.#report(HTTP_ERRORS.notAccepted(message)));
    return (server.address() as AddressInfo).port;
  }

  /**
   * Stops accepting connections, ends each once it has no call, and resolves when none is open. Those without a call stay open for
   * `idleTimeout` ms if another process takes over the port: a caller may be about to send. All end at `deadline` (`performance.now()`).
   */
  async close(idleTimeout = 0, deadline = performance.now() + STOP_TIMEOUT): Promise<void> {
    const server = this.#server;
    const connections = this.#connections;
    connections.isServerStopping = true;
    for (const connection of connections.all) connection.announceEnd();
    const closed = new Promise((resolve) => {
      // http.Server would close idle connections at once. Calls back also if it did not listen.
      NetServer.prototype.close.call(server, resolve);
    });
    const closeIdle = () => {
      const all = [...connections.all];
      for (const connection of all) if (connection.isUnused && !connection.mayBegin) connection.destroy();
      // From Node 26 on it would close unused ones, too, whose callers may be about to send.
      if (!all.some((connection) => connection.mayBegin)) server.closeIdleConnections();
    };
    // Requests that have arrived are read first.
    if (idleTimeout === 0) setImmediate(() => setImmediate(closeIdle));
    const sweepFrom = performance.now() + idleTimeout;
    const sweeping = setInterval(() => {
      if (performance.now() >= sweepFrom) closeIdle();
    }, SWEEP_INTERVAL);
    const end = setTimeout(() => {
      for (const connection of connections.all) connection.destroy();
    }, deadline - performance.now());
    await closed;
    clearInterval(sweeping);
    clearTimeout(end);
    connections.stop();
    // Ends the interval in which Node looks for slow requests.
    server.close();
  }
}

/** An error of Node's parser, with the reason that it gives. */
type ParserError = NodeJS.ErrnoException & { readonly reason?: string; readonly rawPacket?: Buffer };

/** The answer to bytes that are not a request, are too many, or do not arrive in time. */
function errorFor({ code, reason, rawPacket }: ParserError, limits: Config['limits']): RequestError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return HTTP_ERRORS.requestTimeout(limits.headersTimeout, limits.requestTimeout);
  if (code === 'HPE_HEADER_OVERFLOW') return HTTP_ERRORS.headerTooLarge(MAX_FIELDS);
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return HTTP_ERRORS.chunkExtensions();
  if (reason === 'Invalid HTTP version' || code === 'HPE_PAUSED_H2_UPGRADE') return HTTP_ERRORS.unsupportedVersion();
  // The record of a handshake begins with its type and the major version (RFC 8446, section 5.1).
  return rawPacket?.[0] === 22 && rawPacket[1] === 3 ? HTTP_ERRORS.tls() : HTTP_ERRORS.unreadable();
}
