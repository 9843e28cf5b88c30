import type { Socket } from 'node:net';

/** How long connections wait for others that arrive with them, in milliseconds: accepting a thousand takes 50 to 100. */
const MAX_WAIT = 150;

/**
 * Lets connections that arrive together in before it reads from any of them. Node accepts one connection in each turn of its
 * event loop (https://github.com/libuv/libuv/pull/3696), and a turn takes as long as the calls of those that were let in
 * before: the last of a thousand would wait for more than a second.
 */
export class Arrivals {
  #waiting: Socket[] = [];
  #seen = 0;
  #since = 0;

  /** Reads from a connection that was accepted, as soon as a turn of the event loop has brought no other. */
  add(socket: Socket): void {
    // Node begins to read from it before.
    process.nextTick(() => socket.pause());
    if (this.#waiting.push(socket) > 1) return;
    this.#since = performance.now();
    this.#lookAgain();
  }

  #lookAgain(): void {
    this.#seen = this.#waiting.length;
    setImmediate(() => {
      setImmediate(() => {
        if (this.#waiting.length > this.#seen && performance.now() - this.#since < MAX_WAIT) this.#lookAgain();
        else this.#read();
      });
    });
  }

  #read(): void {
    const sockets = this.#waiting;
    this.#waiting = [];
    for (const socket of sockets) socket.resume();
  }
}
