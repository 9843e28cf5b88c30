import { STATUS_CODES, type ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRequest } from '../request';
import type { RequestError } from '../errors';

/** Most requests of one connection that may wait for the answers before theirs: each may have a large answer. */
const MAX_QUEUED = 64;

/** Most requests that may arrive on a connection after it began to end. */
const MAX_IGNORED = 4096;

/** What a server knows of one connection, from its acceptance until it is closed. */
export class Connection {
  /** The accepted TCP socket. With TLS it carries the encrypted bytes. */
  readonly accepted: Socket;
  #http: Socket | undefined;
  #last: ServerResponse<HttpRequest> | undefined;
  readonly #queued = new Set<ServerResponse>();
  #ending = false;
  #ignored = 0;
  /** Bytes that had been given to the HTTP socket when it was last seen to have sent all before them. */
  #givenBytes = 0;
  #givenAt = 0;

  constructor(accepted: Socket) {
    this.accepted = accepted;
  }

  /** The socket that carries HTTP: the accepted one, or the TLS socket on top of it once TLS is agreed. */
  get http(): Socket | undefined {
    return this.#http;
  }

  /** The response to the last request that arrived, if any. */
  get last(): ServerResponse<HttpRequest> | undefined {
    return this.#last;
  }

  /** Whether the connection will be closed after the answers to the requests that arrived. */
  get isEnding(): boolean {
    return this.#ending;
  }

  /** Whether the peer has not begun a first request, or the connection is ending and the last answer sent. */
  get isUnused(): boolean {
    if (this.#http === undefined) return true;
    if (this.#last === undefined) return this.#ending || this.#http.bytesRead === 0;
    return this.#ending && this.#last.closed;
  }

  /** From now on this socket carries HTTP. */
  open(socket: Socket): void {
    this.#http = socket;
    // Each of the requests that wait may listen for the end of its caller.
    socket.setMaxListeners(socket.getMaxListeners() + MAX_QUEUED);
    socket.once('close', () => {
      // Node tells only the response that is being sent.
      for (const response of this.#queued) if (response.socket === null) response.destroy().emit('close');
    });
  }

  /** Notes the response to a request that arrived. False: too many wait for the answers before theirs. */
  received(response: ServerResponse<HttpRequest>): boolean {
    this.#last = response;
    // A response gets its socket when all before it are sent (pipelining, RFC 9112, section 9.3.2).
    if (response.socket !== null) return true;
    this.#queued.add(response);
    response.once('close', () => this.#queued.delete(response));
    return this.#queued.size <= MAX_QUEUED;
  }

  /** Notes a request that arrived after the connection began to end. */
  ignored(): void {
    if (++this.#ignored > MAX_IGNORED) this.destroy();
  }

  /** Does something once all requests that arrived are answered, as answers go out in the order of the requests. */
  #afterAnswers(then: () => void): void {
    if (this.#last === undefined || this.#last.closed) then();
    else this.#last.once('close', then);
  }

  /** Whether the peer has taken none, or too few, of the bytes that wait for it, for this many milliseconds. */
  isStuck(now: number, timeout: number): boolean {
    const socket = this.#http;
    if (socket === undefined || socket.destroyed) return false;
    if (socket.writableLength === 0 || socket.bytesWritten - socket.writableLength >= this.#givenBytes) {
      this.#givenBytes = socket.bytesWritten;
      this.#givenAt = now;
      return false;
    }
    return now - this.#givenAt > timeout;
  }

  /** Answers without a request, after the answers to all requests, and closes. Without a socket for HTTP it only closes. */
  refuse(error: RequestError): void {
    this.#ending = true;
    const socket = this.#http;
    if (socket === undefined) {
      this.destroy();
      return;
    }
    // Where the peer has ended its side, Node closes the socket with the last answer that it knows of.
    socket.destroySoon = () => undefined;
    this.#afterAnswers(() => {
      if (!socket.writable) return;
      socket.write(lastAnswer(error));
      closeInSteps(socket);
    });
  }

  /** Has the answer to the last request that arrived say that the connection ends with it, if that is still possible. */
  announceEnd(): void {
    if (this.#last !== undefined && !this.#last.headersSent) this.#last.shouldKeepAlive = false;
  }

  /** Closes after the answers to all requests. */
  close(): void {
    this.#ending = true;
    this.#afterAnswers(() => {
      if (this.#http?.writable) closeInSteps(this.#http);
    });
  }

  destroy(): void {
    (this.#http ?? this.accepted).destroy();
  }
}

/** The text of an answer that no request handler gives, after which the connection is closed. */
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

/** Requests of which at most this many bytes are unread keep their connection: the bytes are read and dropped. */
const MAX_DROPPED = 65_536;

/** How many bytes of a larger request are read and dropped, so that a sender that only writes gets to read the answer. */
const MAX_DISCARDED = 4 * 1024 * 1024;

/** How long a peer may take to read the last answer and to close its side, in milliseconds. */
const LINGER = 1000;

/** Whether so much of a request may still arrive that its connection is better closed than kept. */
export function hasMuchToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > MAX_DROPPED;
}

/**
 * Makes the connection of an answered request close without reading the rest of the request. Bytes that are unread when a
 * socket is closed make it reset the connection, and the peer may lose the answer: so a little more is read, and the socket
 * is closed in two steps (RFC 9112, section 9.6).
 */
export function stopReading(request: IncomingMessage): void {
  let left = MAX_DISCARDED;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  request.on('error', () => undefined);
  // Node would otherwise drop all of it once the answer is sent.
  request.resume().read(0);
  request.socket.destroySoon = () => {
    closeInSteps(request.socket);
  };
}

/** Ends the sending side of a socket after what was written to it, and closes it when its peer has had time to read that. */
function closeInSteps(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
