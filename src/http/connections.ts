import type { Socket } from 'node:net';

/** How often in a time-out the connections are looked at. */
const SWEEPS_PER_TIMEOUT = 4;

/** Bytes that were to be sent at a time: they must be gone when the time-out is over. */
interface Mark {
  bytes: number;
  since: number;
}

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
    this.#marks.set(socket, { bytes: 0, since: 0 });
    socket.once('close', () => this.#marks.delete(socket));
  }

  stop(): void {
    clearInterval(this.#sweep);
  }

  #closeSlow(closed: () => void): void {
    const now = Date.now();
    for (const [socket, mark] of this.#marks) {
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
