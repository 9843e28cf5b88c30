import { setImmediate, setTimeout } from 'node:timers/promises';

/** A message with more bytes or characters than this takes turns with others of its kind. */
export const LARGE = 256 * 1024;

/** Pause in and between turns, in milliseconds: what a small call needs from its header to its commit and its reply. */
const PAUSE = 5;

/** Lets calls with large messages take turns, so that however many of them come, other calls wait for one at most. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when it is the caller's turn, to the function that ends it. */
  async take(): Promise<() => void> {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const before = this.#last;
    this.#last = before.then(() => ended).then(breathe);
    await before;
    return end;
  }
}

/** Lets other calls go on: all that came so far, from their headers to their replies. */
export async function breathe(): Promise<void> {
  await setImmediate();
  await setTimeout(PAUSE);
}
