import { HTTP_ERRORS } from '../http/errors';

/** Counts the calls in progress, and apart from them those that wait for something to happen; refuses those above its limits. */
export class InFlight {
  readonly #maxCalls: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<AbortController>();
  #calls = 0;
  #stopping = false;

  constructor(maxCalls: number, maxWaiting: number) {
    this.#maxCalls = maxCalls;
    this.#maxWaiting = maxWaiting;
  }

  /** How many calls are in progress. */
  get calls(): number {
    return this.#calls;
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Begins a call; {@link InFlight.leave} ends it.
   *
   * @throws {RequestError} 503: too many calls are in progress; this one has not begun.
   */
  enter(): void {
    if (this.#calls >= this.#maxCalls) throw HTTP_ERRORS.callsInFlight(this.#maxCalls);
    this.#calls++;
  }

  /** Ends a call that {@link InFlight.enter} began. */
  leave(): void {
    this.#calls--;
  }

  /**
   * Lets a call in progress wait. It does not count as one in progress until {@link InFlight.resume}.
   *
   * @returns the controller of its wait; whoever wants the wait to end aborts it.
   * @throws {RequestError} 503: too many calls wait; this one is still in progress.
   */
  pause(): AbortController {
    if (this.#waiting.size >= this.#maxWaiting) throw HTTP_ERRORS.callsWaiting(this.#maxWaiting);
    const wait = new AbortController();
    if (this.#stopping) wait.abort();
    this.#waiting.add(wait);
    this.#calls--;
    return wait;
  }

  /** Ends the wait of a call: it is in progress again, however many others are. */
  resume(wait: AbortController): void {
    this.#waiting.delete(wait);
    this.#calls++;
  }

  /** Ends all waits, and every later one as it begins, since the service stops. */
  endWaits(): void {
    this.#stopping = true;
    for (const wait of this.#waiting) wait.abort();
  }
}
