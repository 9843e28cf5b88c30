import { setImmediate } from 'node:timers/promises';

/** The length of a phase in milliseconds, as long as there are both connections and calls. */
const PHASE = 100;

/** Deferred calls made in one iteration of the event loop: all at once, they would be more than may be in flight. */
const CALLS_AT_ONCE = 64;

/**
 * Alternates between new connections and calls. Node accepts one connection in each iteration of its event loop
 * (https://github.com/libuv/libuv/pull/3696), and an iteration takes as long as the calls in it: the last of a thousand
 * connections that reach a busy service at once would wait two seconds longer (64 callers beside them, two cores). So calls are deferred
 * while connections arrive, for up to 100 ms at a time.
 */
export class AcceptPhases {
  readonly #waiting: (() => void)[] = [];
  #accepted = 0;
  #isAccepting = false;

  /** Whether connections are accepted now. Calls then wait: {@link AcceptPhases.defer}. */
  get isAccepting(): boolean {
    return this.#isAccepting;
  }

  /** Notes that a connection was accepted. */
  accepted(): void {
    this.#accepted++;
    if (!this.#isAccepting) void this.#alternate();
  }

  /** Runs a call once connections have had their phase or no more arrive, in the order of the calls. */
  defer(call: () => void): void {
    this.#waiting.push(call);
  }

  async #alternate(): Promise<void> {
    this.#isAccepting = true;
    do {
      await this.#letIn(performance.now() + PHASE);
      await this.#makeCalls(performance.now() + PHASE);
    } while (this.#isAccepting);
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
      for (const call of this.#waiting.splice(0, CALLS_AT_ONCE)) call();
      // A call that arrives meanwhile is made after those before it.
      this.#isAccepting = this.#waiting.length > 0;
      if (!this.#isAccepting) return;
      await setImmediate();
    } while (this.#accepted === before || performance.now() < until);
  }
}
