/** Shorter pieces are copied together: a buffer takes some hundred bytes beside its content. */
const MIN_PIECE = 4096;

/** The first block that short pieces are copied into, and the largest, in bytes. Those between double what is there. */
const MIN_BLOCK = 1024;
const MAX_BLOCK = 65_536;

/**
 * Bytes that arrive in pieces. They take at most about twice their length in memory, in whatever pieces they come: kept as it
 * comes, a body in chunks of one byte would take more than a hundred times its length.
 */
export class GatheredBytes {
  #parts: Buffer[] = [];
  /** The last part, if pieces are copied into it. */
  #block: Buffer | undefined;
  #blockUsed = 0;
  #length = 0;

  /** How many bytes there are. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes at the end. The piece may be kept as it is, and must not change afterwards. */
  add(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0) {
      if (this.#block === undefined && isWorthKeeping(rest)) {
        this.#parts.push(rest);
        this.#length += rest.length;
        return;
      }
      const block = (this.#block ??= this.#addBlock());
      const copied = rest.copy(block, this.#blockUsed);
      this.#blockUsed += copied;
      this.#length += copied;
      if (this.#blockUsed === block.length) this.#block = undefined;
      rest = rest.subarray(copied);
    }
  }

  #addBlock(): Buffer {
    const block = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#length, MIN_BLOCK), MAX_BLOCK));
    this.#parts.push(block);
    this.#blockUsed = 0;
    return block;
  }

  /** Returns all bytes and forgets them. */
  take(): Buffer {
    const [first, ...others] = this.#parts;
    const isWhole = first !== undefined && others.length === 0;
    const bytes = isWhole ? first.subarray(0, this.#length) : Buffer.concat(this.#parts, this.#length);
    this.clear();
    return bytes;
  }

  /** Forgets all bytes. */
  clear(): void {
    this.#parts = [];
    this.#block = undefined;
    this.#length = 0;
  }
}

/** Whether keeping a piece takes little more memory than its bytes: all of the memory that it is a part of is kept with it. */
function isWorthKeeping(piece: Buffer): boolean {
  return piece.length >= MIN_PIECE && piece.length * 2 >= piece.buffer.byteLength;
}
