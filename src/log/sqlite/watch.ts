/** Pause between two looks at what other processes have recorded, in milliseconds. */
const POLL_PAUSE = 50;

/**
 * Tells a listener of new events in the database. Those of this process are told as they are committed. SQLite tells nobody
 * of the commits of other processes: for those it looks now and then, which takes the database thread some 30 µs.
 */
export class SqliteWatch {
  readonly #newest: () => Promise<number>;
  readonly #listener: (newest: bigint) => void;
  #told: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** @param newest - reads the newest position. */
  constructor(newest: () => Promise<number>, listener: (newest: bigint) => void) {
    this.#newest = newest;
    this.#listener = listener;
    void this.#poll();
  }

  /** Tells of the newest position, unless it was told before. */
  tell(newest: number): void {
    if (this.#ended || newest === this.#told) return;
    this.#told = newest;
    this.#listener(BigInt(newest));
  }

  async #poll(): Promise<void> {
    const told = this.#told;
    try {
      const newest = await this.#newest();
      // Whoever told a position meanwhile may have told one that the look did not see.
      if (this.#told === told) this.tell(newest);
    } catch {
      // Whoever reads or records is told why; the next look may go well.
    }
    if (!this.#ended) this.#timer = setTimeout(() => void this.#poll(), POLL_PAUSE);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }
}
