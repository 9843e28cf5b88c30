/** The length of a turn in milliseconds, as long as there are both connections and calls. */
const SLICE = 100;

/** Deferred calls made in one iteration of the event loop: all at once, they would be more than may be in flight. */
const CALLS_AT_ONCE = 64;

/**
 * Makes calls and new connections take turns. Node accepts one connection in each iteration of its event loop
 * (https://github.com/libuv/libuv/pull/3696), and an iteration takes as long as the calls in it: the last of a thousand
 * connections that arrive at once would wait for seconds. So calls are deferred while connections arrive, for up to 100 ms at a
 * time.
 */
export class AcceptTurns {
  #accepted = 0;
  #areConnections = false;
  #waiting: (() => void)[] = [];

  /** Whether it is the turn of connections: a call should then {@link AcceptTurns.defer}. */
  get areConnections(): boolean {
    return this.#areConnections;
  }

  /** Notes that a connection was accepted. */
  accepted(): void {
    this.#accepted++;
    if (this.#areConnections) return;
    this.#areConnections = true;
    this.#letIn(performance.now() + SLICE);
  }

  /** Makes a call once connections have had their turn or no more arrive, in the order of the calls. */
  defer(call: () => void): void {
    this.#waiting.push(call);
  }

  /** Accepts connections until then, or until two iterations of the event loop bring none. */
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

  /** Makes the calls that were deferred, and those that arrive meanwhile. */
  #makeCalls(until: number): void {
    const before = this.#accepted;
    for (const call of this.#waiting.splice(0, CALLS_AT_ONCE)) call();
    // A call that arrives meanwhile is made after those before it.
    this.#areConnections = this.#waiting.length > 0;
    if (!this.#areConnections) return;
    setImmediate(() => {
      const now = performance.now();
      if (this.#accepted > before && now >= until) this.#letIn(now + SLICE);
      else this.#makeCalls(until);
    });
  }
}
