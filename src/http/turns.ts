import { setImmediate, setTimeout } from 'node:timers/promises';

/** A message with more bytes or characters than this takes turns with others of its kind. */
export const LARGE = 256 * 1024;

/** Pause between two turns, in milliseconds: as long as a small call needs from its header to its commit and its reply. */
const PAUSE = 5;

/**
 * Lets work on large messages take turns, so that however many of them come, other calls wait for a part of one at most.
 * A turn lasts until whoever got it waits for something.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    const mine = this.#last.then(() => undefined);
    this.#last = mine.then(() => setImmediate()).then(() => setTimeout(PAUSE));
    return mine;
  }
}
