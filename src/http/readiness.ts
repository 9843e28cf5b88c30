import { messageChain } from '../message-chain';

/** A check that takes longer than this, in milliseconds, counts as failed: a caller would have to wait as long. */
const CHECK_TIMEOUT = 1000;

/** Tells whether the service can do its work now, by a check that rejects with the reason when it cannot. */
export class Readiness {
  readonly #check: () => Promise<void>;
  #checking: Promise<string | undefined> | undefined;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  /** Resolves to what is in the way; undefined: nothing. However many ask, one check is under way at a time. */
  async problem(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, CHECK_TIMEOUT, `The check takes longer than ${String(CHECK_TIMEOUT)} ms.`);
    });
    this.#checking ??= this.#outcome();
    const problem = await Promise.race([this.#checking, late]);
    clearTimeout(timer);
    return problem;
  }

  async #outcome(): Promise<string | undefined> {
    try {
      await this.#check();
      return undefined;
    } catch (error) {
      return messageChain(error);
    } finally {
      this.#checking = undefined;
    }
  }
}
