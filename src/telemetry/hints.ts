import type { Logger } from './logger';

/** Tells the operator what to change where callers show that a setting or a client does not fit: each hint once. */
export class Hints {
  readonly #logger: Logger;
  readonly #given = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Logs a hint, the first time that this key is given.
   *
   * @param key - names the hint; one of a few, never a text of a caller.
   * @param message - says what was seen and what to change.
   */
  once(key: string, message: string, fields: object = {}): void {
    if (this.#given.has(key)) return;
    this.#given.add(key);
    this.#logger.warn({ hint: key, ...fields }, message);
  }
}
