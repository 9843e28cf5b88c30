import { RequestError } from './request-error';

/** Counts the calls that are being worked on, and refuses more than there may be. */
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
   * A call begins; {@link InFlight.leave} must follow.
   *
   * @throws {RequestError} 503: there are too many; then nothing must follow.
   */
  enter(): void {
    if (this.#calls >= this.#max) {
      const text = `Too many calls are in flight: more than ${String(this.#max)} (MAX_IN_FLIGHT).`;
      throw new RequestError(503, text, 'busy', { 'Retry-After': '1' });
    }
    this.#calls++;
  }

  leave(): void {
    this.#calls--;
  }
}
