import type { LogEngine } from './engine';

/** Tells one listener the newest position: as the engine tells it, and by a look now and then for what others recorded. */
export class LogWatch {
  readonly #engine: Pick<LogEngine, 'newest' | 'follow' | 'watchPause'>;
  readonly #listener: (newest: bigint) => void;
  readonly #endFollowing: (() => Promise<void>) | undefined;
  #told: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(engine: Pick<LogEngine, 'newest' | 'follow' | 'watchPause'>, listener: (newest: bigint) => void) {
    this.#engine = engine;
    this.#listener = listener;
    this.#endFollowing = engine.follow?.((newest) => {
      this.tell(newest);
    });
    void this.#look();
  }

  /** Calls the listener, unless it was told this position last. */
  tell(newest: number): void {
    if (this.#isEnded || newest === this.#told) return;
    this.#told = newest;
    this.#listener(BigInt(newest));
  }

  async #look(): Promise<void> {
    const told = this.#told;
    try {
      const newest = await this.#engine.newest();
      // A position told meanwhile may be newer than what the look saw.
      if (this.#told === told) this.tell(newest);
    } catch {
      // Calls that read or record say why; the next look may go well.
    }
    if (!this.#isEnded) this.#timer = setTimeout(() => void this.#look(), this.#engine.watchPause);
  }

  /** Calls the listener no more; resolves once nothing is in progress. */
  async end(): Promise<void> {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    await this.#endFollowing?.();
  }
}
