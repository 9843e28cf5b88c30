import { V7Generator } from 'uuidv7';

/** How many random 32-bit numbers are asked for at once: each request to the system costs more than making a UUID. */
const RANDOM_NUMBERS = 1024;

/** Makes UUIDs version 7 (RFC 9562, section 5.7). */
export class UuidGenerator {
  readonly #random = new Uint32Array(RANDOM_NUMBERS);
  #used = RANDOM_NUMBERS;
  readonly #generator = new V7Generator({ nextUint32: () => this.#nextRandom() });

  /**
   * Makes a UUID that sorts after every one this generator made before, unless the clock was set back by more than ten
   * seconds.
   */
  next(): string {
    return this.#generator.generate().toString();
  }

  #nextRandom(): number {
    if (this.#used === RANDOM_NUMBERS) {
      crypto.getRandomValues(this.#random);
      this.#used = 0;
    }
    return this.#random[this.#used++] ?? 0;
  }
}
