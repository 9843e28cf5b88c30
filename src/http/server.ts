import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { LONGEST_ADMIN_PATH, type AdminPages } from './admin';
import { isAuthority } from './caller';
import { Connections } from './connections';
import { replyText } from './reply';
import { RequestError, type Refusal } from './request-error';

/** Answers a request, or calls `next`: without an error where it is not for it, with one where it failed. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** The handler of a server that has its pages and nothing else. */
export const noHandler: Handler = (_request, _response, next) => {
  next();
};

/** What callers can have of the server at most. Times are in milliseconds. */
export interface ServerLimits {
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
  /** For the header of a request, and for the first one after a connection was made. */
  readonly headersTimeout: number;
  /** For a whole request. */
  readonly requestTimeout: number;
  /** For a caller to take an answer. */
  readonly sendTimeout: number;
}

/** Hears of what no handler sees. */
export interface ServerObserver {
  /** A request or connection was refused before a handler saw it. */
  refused(reason: Refusal, message: string, remoteAddress: string | undefined): void;
  /** A request was answered, or its caller went away, so many milliseconds after its header; undefined: not asked for. */
  readonly answered?: ((request: IncomingMessage, response: ServerResponse, milliseconds: number) => void) | undefined;
}

/** How a server is made. */
export interface ServerOptions {
  readonly pages: AdminPages;
  readonly limits: ServerLimits;
  readonly observer: ServerObserver;
  /** What TLS needs; undefined: plain HTTP. Where it has a `ca`, clients must have a certificate. */
  readonly tls?: SecureContextOptions | undefined;
}

/** A load balancer keeps its connections idle for a minute; whoever closes first must not be the service. */
const KEEP_ALIVE_TIMEOUT = 65_000;

/** How often requests are looked at that do not come in time, in milliseconds. */
const TIMEOUT_CHECK_INTERVAL = 1000;

/**
 * Connections that wait to be accepted, in so far as the system lets them (Linux: `net.core.somaxconn`). More than Node's
 * 511, since a client that is not let in tries again only after a second.
 */
const BACKLOG = 4096;

/** How long calls in flight may take to finish after a stop was asked for, in milliseconds. */
const STOP_TIMEOUT = 10_000;

/** How long a caller's connection stays open for its next call when another process takes over, in milliseconds. */
const HANDOVER_TIMEOUT = 5000;

/** The HTTP server: the admin pages, and one handler for everything else. */
export class HttpServer {
  readonly #server: Server | TlsServer;
  readonly #options: ServerOptions;
  readonly #connections: Connections;
  #stopping = false;

  constructor(handler: Handler, options: ServerOptions) {
    const { limits, observer, tls } = options;
    this.#options = options;
    this.#connections = new Connections(limits.sendTimeout, () => {
      observer.refused(
        'timeout',
        `A caller did not take its answer in ${seconds(limits.sendTimeout)} (SEND_TIMEOUT).`,
        undefined,
      );
    });
    const settings = {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL,
      maxHeaderSize: limits.maxHeaderBytes,
    };
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#answer(request, response, handler);
    };
    if (tls === undefined) this.#server = createServer(settings, answer);
    else {
      const mutual = { requestCert: tls.ca !== undefined, rejectUnauthorized: tls.ca !== undefined };
      const handshakeTimeout = limits.headersTimeout;
      this.#server = createTlsServer({ ...settings, ...tls, ...mutual, handshakeTimeout }, answer);
    }
    this.#server.on('connection', (socket: Socket) => {
      this.#connected(socket);
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      this.#unreadable(error, socket as Socket);
    });
  }

  get connections(): number {
    return this.#connections.open;
  }

  #connected(socket: Socket): void {
    const { limits, observer, tls } = this.#options;
    if (this.#connections.open < limits.maxConnections) {
      this.#connections.add(socket);
      return;
    }
    const text = `Too many connections: more than ${String(limits.maxConnections)} (MAX_CONNECTIONS).`;
    observer.refused('busy', text, socket.remoteAddress);
    if (tls === undefined) refuse(socket, 503, text, 'Retry-After: 1\r\n');
    else socket.destroy();
  }

  /** What came is no request, or it did not come in time. */
  #unreadable({ code }: NodeJS.ErrnoException, socket: Socket): void {
    const { limits, observer } = this.#options;
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refused = (reason: Refusal, status: number, text: string): void => {
      observer.refused(reason, text, socket.remoteAddress);
      refuse(socket, status, text);
    };
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      const header = `its header in ${seconds(limits.headersTimeout)} (HEADERS_TIMEOUT)`;
      const whole = `all of it in ${seconds(limits.requestTimeout)} (REQUEST_TIMEOUT)`;
      refused('timeout', 408, `The request did not come in time: ${header}, ${whole}.`);
    } else if (code === 'HPE_HEADER_OVERFLOW') {
      const max = String(limits.maxHeaderBytes);
      refused('too-large', 431, `The header has more than ${max} bytes (MAX_HEADER_BYTES).`);
    } else refused('invalid', 400, 'This is not a valid HTTP request.');
  }

  #answer(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
    const { observer, pages } = this.#options;
    // Without its socket a response waits for the ones before it (pipelining, RFC 9112, section 9.3.2).
    if (response.socket === null && !this.#connections.queue(request, response)) {
      if (!request.socket.destroyed) {
        this.#options.observer.refused(
          'busy',
          'Too many requests wait on one connection.',
          request.socket.remoteAddress,
        );
        request.socket.destroy();
      }
      return;
    }
    if (this.#stopping) response.setHeader('Connection', 'close');
    const { answered } = observer;
    if (answered !== undefined) {
      const started = performance.now();
      response.once('close', () => {
        answered(request, response, performance.now() - started);
      });
    }
    if (!hasValidTarget(request)) {
      this.#refuse(response, new RequestError(400, 'The Host header is not a valid authority.'));
      return;
    }
    const { url = '' } = request;
    const page = url.length <= LONGEST_ADMIN_PATH ? pages.get(url) : undefined;
    if (page !== undefined) void page(request, response);
    else {
      handler(request, response, (error) => {
        this.#unhandled(response, error);
      });
    }
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
    this.#options.observer.refused(refusal, message, response.req.socket.remoteAddress);
    replyText(response, status, message, headers);
  }

  /** From now on new connections use these certificates. Only for a server that was made with TLS. */
  replaceTls(tls: SecureContextOptions): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(tls);
  }

  /**
   * Starts to listen; resolves to the port.
   *
   * @throws the address is in use, or not one of this machine.
   */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, host, backlog: BACKLOG }, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** Takes no new connection and resolves when every call in flight is answered, or after ten seconds. */
  close(): Promise<void> {
    return this.#finish(0);
  }

  /**
   * As {@link close}, where another process takes over the port: connections without a call are closed after five seconds
   * and not at once, since a caller may be about to send on one. With its answer it is told that the connection ends.
   */
  handOver(): Promise<void> {
    return this.#finish(HANDOVER_TIMEOUT);
  }

  async #finish(idleTimeout: number): Promise<void> {
    this.#stopping = true;
    const server = this.#server;
    const closed = new Promise<void>((resolve) => {
      // That of http.Server would close the connections without a call.
      NetServer.prototype.close.call(server, () => {
        resolve();
      });
    });
    const sweepFrom = performance.now() + idleTimeout;
    const sweep = setInterval(() => {
      if (performance.now() >= sweepFrom) server.closeIdleConnections();
    }, 50);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
    }, STOP_TIMEOUT);
    await closed;
    clearInterval(sweep);
    clearTimeout(deadline);
    this.#connections.stop();
  }
}

function seconds(milliseconds: number): string {
  return `${String(milliseconds / 1000)} s`;
}

/** Answers on a connection that has no request to answer, and closes it. */
function refuse(socket: Socket, status: number, text: string, fields = ''): void {
  const body = `${text}\n`;
  socket.write(
    `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${String(body.length)}\r\n${fields}Connection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

/** The last `Host` that was found valid: nearly every request has the same. */
let validHost = '';

/**
 * Checks the authority of a request. A target in absolute form (RFC 9112, section 3.2.2), as proxies write it, is first
 * turned into `Host` and path.
 */
function hasValidTarget(request: IncomingMessage): boolean {
  const { url = '/' } = request;
  if (!url.startsWith('/') && URL.canParse(url)) {
    const { host, pathname, search } = new URL(url);
    request.headers.host = host;
    request.url = pathname + search;
  }
  const { host } = request.headers;
  if (host === undefined || host === validHost) return true;
  if (!isAuthority(host)) return false;
  validHost = host;
  return true;
}
