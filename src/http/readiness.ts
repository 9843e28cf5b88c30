import { messageChain } from '../util/message-chain';
import { within } from '../util/within';

/** A check that takes longer than this, in milliseconds, counts as failed: a caller would have to wait as long. */
const CHECK_TIMEOUT = 1000;

/** Tells whether the service can do its work now, by a check that rejects with the reason when it cannot. */
export class Readiness {
  readonly #check: () => Promise<void>;
  #checking: Promise<void> | undefined;
  #stopping = false;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  /** From now on the service is not ready, because it is stopping. */
  stop(): void {
    this.#stopping = true;
  }

  /** Resolves to the reason why the service is not ready; undefined: it is. Callers at the same time share one check. */
  async problem(): Promise<string | undefined> {
    if (this.#stopping) return 'stopping';
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    try {
      await within(
        this.#checking,
        CHECK_TIMEOUT,
        () => new Error(`The check takes longer than ${String(CHECK_TIMEOUT)} ms.`),
      );
      return undefined;
    } catch (error) {
      return messageChain(error);
    }
  }
}
