/**
 * How long connections are let in before calls are made, and calls are made before connections are let in again, in
 * milliseconds, as long as there are more of both.
 */
const SLICE = 100;

/** How many calls that waited are made in one turn of the event loop: all at once, they would be more than may be in flight. */
const CALLS_IN_TURN = 64;

/**
 * Lets connections in before the calls of others. Node accepts one connection in each turn of its event loop
 * (https://github.com/libuv/libuv/pull/3696), and a turn takes as long as the calls in it: the last of a thousand that arrive at
 * once would wait for seconds. So calls wait while connections arrive, since turns without calls are short. The two take turns:
 * callers who call again and again always have calls to make.
 */
export class Arrivals {
  #accepted = 0;
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
    this.#letIn(performance.now() + SLICE);
  }

  /** Makes a call once connections have had their time or no more arrive, in the order of the calls. */
  wait(call: () => void): void {
    this.#waiting.push(call);
  }

  /** Lets connections in until then, or until two turns of the event loop bring none. */
  #letIn(until: number): void {
    const before = this.#accepted;
    setImmediate(() => {
      setImmediate(() => {
        const now = performance.now();
        if (this.#accepted > before && now < until) this.#letIn(until);
        else this.#makeCalls(now + SLICE);
      });
    });
  }

  /** Makes the calls that wait, and those that come meanwhile; from then on until another connection arrives. */
  #makeCalls(until: number): void {
    const before = this.#accepted;
    for (const call of this.#waiting.splice(0, CALLS_IN_TURN)) call();
    // A call that comes meanwhile waits behind those before it.
    this.#isGoingOn = this.#waiting.length > 0;
    if (!this.#isGoingOn) return;
    setImmediate(() => {
      const now = performance.now();
      if (this.#accepted > before && now >= until) this.#letIn(now + SLICE);
      else this.#makeCalls(until);
    });
  }
}
