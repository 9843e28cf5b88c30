import type { ServerResponse } from 'node:http';

/** Bodies of up to this many bytes are not counted: with all connections in use they stay below what a process has. */
export const SMALL_BODY = 65_536;

/** Counts the bytes of the large bodies that are held together. */
export class BodyMemory {
  readonly maxBytes: number;
  readonly #held = new WeakMap<ServerResponse, HeldBody>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Begins to hold the body of one request, until its response is closed at the latest. */
  hold(response: ServerResponse): HeldBody {
    const held = new HeldBody(this);
    this.#held.set(response, held);
    response.once('close', () => {
      held.release();
    });
    return held;
  }

  /** Ends the hold on the body of a request. */
  release(response: ServerResponse): void {
    this.#held.get(response)?.release();
  }

  /** Takes room for so many bytes, or gives so many back if they are negative; false: there is too little. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** The bytes of one body. As long as it is small, none of them count; once it is large, all of them do. */
export class HeldBody {
  readonly #memory: BodyMemory;
  #counted = 0;
  #released = false;

  constructor(memory: BodyMemory) {
    this.#memory = memory;
  }

  /** Says how many bytes there are now; false: there is no room for more than before. */
  resize(bytes: number): boolean {
    if (this.#released) return true;
    const counted = bytes > SMALL_BODY ? bytes : 0;
    if (!this.#memory.take(counted - this.#counted)) return false;
    this.#counted = counted;
    return true;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#memory.take(-this.#counted);
  }
}
