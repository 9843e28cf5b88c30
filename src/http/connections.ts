import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How often in a time-out the connections are looked at. */
const SWEEPS_PER_TIMEOUT = 4;

/** Bytes that were to be sent at a time: they must be gone when the time-out is over. */
interface Mark {
  bytes: number;
  since: number;
  /** Requests that came before those in front of them were answered. */
  queued: number;
}

/** Most requests that may wait on one connection for those in front of them: each may have a large answer. */
const MAX_QUEUED = 64;

/**
 * Counts open connections and closes those that do not take what they are sent. It looks at all of them now and then, so
 * that no request needs a timer of its own.
 */
export class Connections {
  readonly #marks = new Map<Socket, Mark>();
  readonly #sendTimeout: number;
  readonly #sweep: NodeJS.Timeout;

  /** @param sendTimeout - milliseconds; `closed` hears of each connection that is closed for being slow. */
  constructor(sendTimeout: number, closed: () => void) {
    this.#sendTimeout = sendTimeout;
    this.#sweep = setInterval(() => {
      this.#closeSlow(closed);
    }, sendTimeout / SWEEPS_PER_TIMEOUT).unref();
  }

  get open(): number {
    return this.#marks.size;
  }

  add(socket: Socket): void {
    this.#marks.set(socket, { bytes: 0, since: 0, queued: 0 });
    socket.once('close', () => this.#marks.delete(socket));
  }

  /** Counts a request that waits for one in front of it until it is answered; false: there are too many. */
  queue(request: IncomingMessage, response: ServerResponse): boolean {
    const mark = this.#marks.get(request.socket);
    if (mark === undefined || ++mark.queued > MAX_QUEUED) return false;
    response.once('close', () => mark.queued--);
    return true;
  }

  stop(): void {
    clearInterval(this.#sweep);
  }

  #closeSlow(closed: () => void): void {
    const now = Date.now();
    for (const [socket, mark] of this.#marks) {
      if (socket.destroyed) continue;
      if (socket.writableLength === 0 || socket.bytesWritten - socket.writableLength >= mark.bytes) {
        mark.bytes = socket.bytesWritten;
        mark.since = now;
      } else if (now - mark.since > this.#sendTimeout) {
        socket.destroy();
        closed();
      }
    }
  }
}
