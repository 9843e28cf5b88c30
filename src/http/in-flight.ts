import { RequestError } from './request-error';

/** Counts the calls in progress and refuses those above a limit. */
export class InFlight {
  readonly #max: number;
  #calls = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get calls(): number {
    return this.#calls;
  }

  /**
   * Begins a call; {@link InFlight.leave} ends it.
   *
   * @throws {RequestError} 503: too many calls are in progress; this one has not begun.
   */
  enter(): void {
    if (this.#calls >= this.#max) {
      const text = `Too many calls are in flight: more than ${String(this.#max)} (MAX_IN_FLIGHT).`;
      throw new RequestError(503, text, 'busy', { 'Retry-After': '1' });
    }
    this.#calls++;
  }

  /** Ends a call that {@link InFlight.enter} began. */
  leave(): void {
    this.#calls--;
  }
}
