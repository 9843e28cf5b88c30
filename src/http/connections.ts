import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { HTTP_ERRORS, type RequestError } from './errors';
import type { HttpResponse } from './response';

/** Most requests of one connection that may wait for the answers before theirs. */
const MAX_WAITING = 64;

/** Most requests of all connections that wait so. Each takes 5 to 80 KB, by its header. */
const MAX_WAITING_TOGETHER = 1024;

/** Grace period for a new connection's first byte, in milliseconds, when a server stops. */
const TIME_TO_SEND = 1000;

/** How long a peer may take to read the last answer and to close its side, in milliseconds. */
const LINGER = 1000;

/** One connection, from its acceptance until it is closed. */
export class Connection {
  /** The response to the newest request that arrived. */
  last: HttpResponse | undefined;
  /** Set by {@link close}: the requests that arrived are answered, then the connection ends. */
  isEnding = false;
  /** Belongs to no request, and is sent after the last answer. */
  #error: RequestError | undefined;
  /** The socket that carries HTTP: the accepted one, or the TLS socket on top of it once TLS is agreed. */
  #http: Socket | undefined;
  #checkPeer: ((socket: Socket) => void) | undefined;
  /** The response that has the socket, or had it last. */
  #current: HttpResponse | undefined;
  #waiting = 0;
  readonly #acceptedAt = performance.now();
  /** `bytesWritten`, which counts unsent bytes too, at the last sweep that saw progress. */
  #givenBytes = 0;
  /** The time of that sweep. */
  #givenAt = 0;

  /** @param accepted - the TCP socket. With TLS it carries the encrypted bytes. */
  constructor(
    readonly accepted: Socket,
    /** Counts the requests for {@link MAX_WAITING_TOGETHER}. */
    private readonly total: { waiting: number },
  ) {}

  /** It is unused, but so new that its caller may be about to send: {@link TIME_TO_SEND} has not passed. */
  get mayBegin(): boolean {
    return this.isUnused && performance.now() - this.#acceptedAt <= TIME_TO_SEND;
  }

  /** No byte of a request has come. */
  get isUnused(): boolean {
    return this.#http === undefined || this.#http.bytesRead === 0;
  }

  /** Closes unless one of the authorities vouches for the peer: after the handshake if that is still under way. */
  closeUnlessVouchedFor(authorities: readonly X509Certificate[]): void {
    this.#checkPeer = (socket) => {
      if (!isVouchedFor((socket as TLSSocket).getPeerX509Certificate(), authorities)) this.close();
    };
    if (this.#http !== undefined) this.#checkPeer(this.#http);
  }

  /** Whether the connection ends with its last request: it {@link isEnding}, or that answer says `Connection: close`. */
  get hasLastAnswer(): boolean {
    return this.isEnding || this.last?.shouldKeepAlive === false;
  }

  /** Whether the next request is refused: the connection ends before it, or too many wait. */
  get refusesNext(): boolean {
    const isAtLimit = this.#waiting >= MAX_WAITING || this.total.waiting >= MAX_WAITING_TOGETHER;
    return this.hasLastAnswer || (isAtLimit && this.last?.closed === false);
  }

  open(socket: Socket): void {
    this.#http = socket;
    this.#checkPeer?.(socket);
    // Node calls it after an answer with which the connection ends.
    socket.destroySoon = this.#end.bind(this, socket);
    socket.once('close', () => (this.total.waiting -= this.#waiting));
  }

  /**
   * Takes a request that arrived. Calls `begin` once the answers before its response are sent (pipelining, RFC 9112, section 9.3.2);
   * never, if the caller goes or the connection ends before.
   */
  received(response: HttpResponse, begin: (response: HttpResponse) => void): void {
    const previous = this.last;
    this.last = response;
    if (response.socket !== null) {
      this.#current = response;
      begin(response);
      return;
    }
    this.#waiting++;
    this.total.waiting++;
    previous?.once('close', () => {
      // Node gives a response its socket when it is its turn.
      if (response.socket === null) return;
      this.#waiting--;
      this.total.waiting--;
      this.#current = response;
      // Calls of other connections come between.
      setImmediate(() => response.closed || begin(response));
    });
  }

  /** Drops what is read afterwards. Node no longer handles this socket: without this, earlier responses would wait for 'drain' for ever. */
  dropRest(): void {
    this.#http?.on('error', () => undefined).on('drain', () => this.#current?.emit('drain'));
    this.#http?.resume();
  }

  /** How long the peer has taken nothing of the bytes that wait for it, in milliseconds. */
  stuckFor(now: number): number {
    const socket = this.#http;
    if (socket === undefined || socket.destroyed) return 0;
    if (socket.bytesWritten - socket.writableLength >= this.#givenBytes) {
      this.#givenBytes = socket.bytesWritten;
      this.#givenAt = now;
    }
    return now - this.#givenAt;
  }

  /** Lets the last answer say that the connection ends with it, unless its header is sent. */
  announceEnd(): void {
    if (this.last !== undefined && !this.last.headersSent) this.last.shouldKeepAlive = false;
  }

  /** Closes after the answers to all requests and, if there is one, this error, which belongs to no request. */
  close(error?: RequestError): void {
    this.isEnding = true;
    this.#error ??= error;
    const socket = this.#http;
    if (socket === undefined) return;
    if (this.last === undefined || this.last.closed) this.#end(socket);
    else this.last.once('close', this.#end.bind(this, socket));
  }

  /** Closes in two steps (RFC 9112, section 9.6): a reset by unread bytes could lose the last answer. */
  #end(socket: Socket): void {
    if (!socket.writable) return;
    // An answer before the last one may have ended the connection.
    if (this.#error !== undefined && this.last?.writableFinished !== false) socket.write(lastAnswer(this.#error));
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER).unref();
    socket.once('close', () => clearTimeout(timer));
  }

  destroy(): void {
    (this.#http ?? this.accepted).destroy();
  }
}

/** Whether one of the authorities has signed a certificate, or one of those between them. */
function isVouchedFor(shown: X509Certificate | undefined, authorities: readonly X509Certificate[]): boolean {
  if (shown === undefined) return false;
  const isSigned = authorities.some((one) => shown.checkIssued(one) && shown.verify(one.publicKey));
  return isSigned || isVouchedFor(shown.issuerCertificate, authorities);
}

/** The text of an answer without a request, after which the connection is closed. */
export function lastAnswer({ status, message, headers = {} }: RequestError): string {
  const body = `${message}\n`;
  const fields = Object.entries({
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${fields.join('')}\r\n${body}`;
}

/** How often connections are checked, in milliseconds, unless a quarter of `sendTimeout` is shorter. */
const SWEEP_INTERVAL = 1000;

/** The open connections of a server. One timer closes those whose peers do not read what they are sent. */
export class Connections {
  readonly all = new Set<Connection>();
  readonly #byHttpSocket = new WeakMap<Socket, Connection>();
  /** Connections with TLS, by both ends of their sockets. */
  readonly #tls = new Map<string, Connection>();
  /** The requests that wait for the answers before theirs. */
  waiting = 0;
  /** Once set, each connection ends with its next answer. */
  isServerStopping = false;
  readonly #sweep: NodeJS.Timeout;

  /** Calls `refused` before it closes a connection whose peer reads nothing for `sendTimeout` ms. */
  constructor(sendTimeout: number, refused: (connection: Connection, error: RequestError) => void) {
    this.#sweep = setInterval(
      () => {
        const now = performance.now();
        for (const connection of this.all) {
          if (connection.stuckFor(now) <= sendTimeout) continue;
          refused(connection, HTTP_ERRORS.answerNotRead(sendTimeout));
          connection.destroy();
        }
      },
      Math.min(sendTimeout / 4, SWEEP_INTERVAL),
    ).unref();
  }

  /** Adds an accepted connection. With TLS it carries HTTP once that is agreed: {@link addHttp}. */
  add(socket: Socket, isTls: boolean): void {
    const connection = new Connection(socket, this);
    this.all.add(connection);
    // Read now: once the peer has gone, Node knows the address only if it was read before.
    const addresses = addressesOf(socket);
    if (!isTls) this.#open(connection, socket);
    else if (addresses === undefined) socket.destroy();
    else this.#tls.set(addresses, connection);
    socket.once('close', () => {
      this.all.delete(connection);
      if (addresses !== undefined && this.#tls.get(addresses) === connection) this.#tls.delete(addresses);
    });
  }

  /** Adds the socket that carries HTTP, once TLS is agreed, to the connection that it stands on. */
  addHttp(socket: Socket): void {
    const connection = this.under(socket);
    if (connection === undefined) {
      // The peer has reset its connection, and nothing else would close it.
      socket.destroy();
      return;
    }
    // A caller that has ended its side still gets its answers, as without TLS; before, the end of its side ends the handshake.
    socket.allowHalfOpen = true;
    this.#open(connection, socket);
  }

  #open(connection: Connection, socket: Socket): void {
    this.#byHttpSocket.set(socket, connection);
    connection.open(socket);
  }

  /** The connection under a TLS socket, also during the handshake. */
  under(tls: Socket): Connection | undefined {
    return this.#tls.get(addressesOf(tls) ?? '');
  }

  /** The connection with HTTP on this socket: for a TLS socket none during the handshake. */
  withHttpOn(socket: Socket): Connection | undefined {
    return this.#byHttpSocket.get(socket);
  }

  stop(): void {
    clearInterval(this.#sweep);
  }
}

/** Both ends of a connection: Node does not tell on which accepted socket a TLS socket stands. */
function addressesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  if (remoteAddress === undefined) return undefined;
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}
