const EMPTY = Buffer.alloc(0);

/** Bytes that arrive in pieces, in one buffer that doubles: pieces of one byte would take more than a hundred times their length. */
export class GrowingBuffer {
  #bytes: Buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds bytes at the end. A first piece is kept as it is, and must not change afterwards. */
  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) {
        const bytes = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#length));
        this.#bytes.copy(bytes, 0, 0, this.#length);
        this.#bytes = bytes;
      }
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes and forgets them. They take at most about twice their length in memory. */
  take(): Buffer {
    const bytes = this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length);
    this.#bytes = EMPTY;
    this.#length = 0;
    if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes;
    // `Buffer.from` would keep the memory from which Node gives small buffers, 64 KiB since version 24.
    const copy = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(copy);
    return copy;
  }
}
