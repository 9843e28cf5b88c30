/** How long calls wait for connections that arrive, in milliseconds. */
const MAX_WAIT = 100;

/** How many calls that waited are made in one turn of the event loop: all at once, they would be more than may be in flight. */
const CALLS_IN_TURN = 64;

/**
 * Lets connections in before the calls of others. Node accepts one connection in each turn of its event loop
 * (https://github.com/libuv/libuv/pull/3696), and a turn takes as long as the calls in it: the last of a thousand that arrive at
 * once would wait for seconds. So calls wait as long as every turn brings another connection; then turns are short.
 */
export class Arrivals {
  #accepted = 0;
  #since = 0;
  #isGoingOn = false;
  #waiting: (() => void)[] = [];

  /** Whether connections are arriving, so that a call should {@link Arrivals.wait}. */
  get isGoingOn(): boolean {
    return this.#isGoingOn;
  }

  /** Notes that a connection was accepted. */
  accepted(): void {
    this.#accepted++;
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    this.#since = performance.now();
    this.#lookAgain();
  }

  /** Makes a call as soon as no more connections arrive, in the order of the calls. */
  wait(call: () => void): void {
    this.#waiting.push(call);
  }

  /** Looks after two turns of the event loop whether they brought another connection. */
  #lookAgain(): void {
    const before = this.#accepted;
    setImmediate(() => {
      setImmediate(() => {
        if (this.#accepted > before && performance.now() - this.#since < MAX_WAIT) this.#lookAgain();
        else this.#makeCalls();
      });
    });
  }

  #makeCalls(): void {
    for (const call of this.#waiting.splice(0, CALLS_IN_TURN)) call();
    // A call that comes meanwhile waits behind those before it.
    this.#isGoingOn = this.#waiting.length > 0;
    if (this.#isGoingOn) {
      setImmediate(() => {
        this.#makeCalls();
      });
    }
  }
}
