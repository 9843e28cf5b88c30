import { deferred, letOthersRun } from '../util/promises';

/** Makes calls with large messages take turns, so that a small call never waits for more than one of them. */
export class LargeMessages {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when the caller's turn has come, to the function that ends it. */
  async turn(): Promise<() => void> {
    const ended = deferred();
    const before = this.#last;
    this.#last = before.then(() => ended.promise).then(letOthersRun);
    await before;
    return ended.resolve;
  }
}
