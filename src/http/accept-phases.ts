import { setImmediate } from 'node:timers/promises';

/** The length of a phase in milliseconds, as long as there are both connections and calls. */
const PHASE = 100;

/**
 * Connections for each of which a deferred call is made in one iteration of the event loop: all calls at once would be more than
 * may be in flight.
 */
const CALLS_AT_ONCE = 64;

/**
 * Alternates between new connections and calls. Node accepts one connection in each iteration of its event loop
 * (https://github.com/libuv/libuv/pull/3696), and an iteration takes as long as the calls in it: the last of a thousand
 * connections that reach a busy service at once would wait two seconds longer (64 callers beside them, two cores). So calls are deferred
 * while connections arrive, for up to 100 ms at a time.
 */
export class AcceptPhases {
  /** The calls that wait, by connection, in the order in which each connection is served next. */
  readonly #waiting = new Map<object, (() => void)[]>();
  #accepted = 0;
  #isAlternating = false;
  #isAccepting = false;

  /** Whether a call on this connection has to be deferred: connections are being accepted, or an earlier call on it still waits. */
  mustWait(connection: object): boolean {
    return this.#isAccepting || this.#waiting.has(connection);
  }

  /** Notes that a connection was accepted. */
  accepted(): void {
    this.#accepted++;
    if (!this.#isAlternating) void this.#alternate();
  }

  /**
   * Runs a call once connections have had their phase or no more arrive. The calls of one connection are made in their order, and
   * connections take turns, so that a thousand calls of one keep no other waiting.
   */
  defer(connection: object, call: () => void): void {
    const calls = this.#waiting.get(connection);
    if (calls === undefined) this.#waiting.set(connection, [call]);
    else calls.push(call);
  }

  async #alternate(): Promise<void> {
    this.#isAlternating = true;
    do {
      this.#isAccepting = true;
      await this.#letIn(performance.now() + PHASE);
      this.#isAccepting = false;
      await this.#makeCalls(performance.now() + PHASE);
    } while (this.#waiting.size > 0);
    this.#isAlternating = false;
  }

  /** Accepts connections until then, or until two iterations of the event loop bring none. */
  async #letIn(until: number): Promise<void> {
    let before: number;
    do {
      before = this.#accepted;
      await setImmediate();
      await setImmediate();
    } while (this.#accepted > before && performance.now() < until);
  }

  /** Runs the calls that wait, until none do or, after that time, a connection arrives. */
  async #makeCalls(until: number): Promise<void> {
    let before: number;
    do {
      before = this.#accepted;
      for (const [connection, calls] of [...this.#waiting].slice(0, CALLS_AT_ONCE)) {
        const call = calls.shift();
        this.#waiting.delete(connection);
        if (calls.length > 0) this.#waiting.set(connection, calls);
        call?.();
      }
      if (this.#waiting.size === 0) return;
      await setImmediate();
    } while (this.#accepted === before || performance.now() < until);
  }
}
