/** Most bytes of events that are kept until the write-ahead log has been written back. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Room that is kept for the next ones: about as much as is recorded until the write-ahead log is written back. */
const KEPT_BYTES = 8 * 1024 * 1024;

/**
 * The batches of events that only the write-ahead log has, in case it is lost. They are copied: kept as they are, they would
 * outlive the young generation, and 50 MB of them would pile up.
 */
export class HeldBatches {
  #bytes = Buffer.alloc(0);
  readonly #ends: number[] = [];
  #isIncomplete = false;

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  /** Whether the write-ahead log has events that are not held. */
  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  add(batches: readonly Uint8Array[]): void {
    for (const batch of batches) {
      const start = this.#ends.at(-1) ?? 0;
      const end = start + batch.length;
      if (end > MAX_BYTES) {
        this.miss();
        return;
      }
      if (end > this.#bytes.length) {
        const bytes = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * end, KEPT_BYTES), MAX_BYTES));
        this.#bytes.copy(bytes, 0, 0, start);
        this.#bytes = bytes;
      }
      this.#bytes.set(batch, start);
      this.#ends.push(end);
    }
  }

  /** Notes that the write-ahead log has events that are not held. */
  miss(): void {
    this.#isIncomplete = true;
  }

  /** Forgets them all: the write-ahead log has been written back. */
  clear(): void {
    this.#ends.length = 0;
    this.#isIncomplete = false;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }

  all(): Uint8Array[] {
    return this.#ends.map((end, i) => this.#bytes.subarray(this.#ends[i - 1] ?? 0, end));
  }
}
