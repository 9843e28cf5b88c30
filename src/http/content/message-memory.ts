import type { ServerResponse } from 'node:http';

/**
 * Counts the bytes of messages that are held at the same time: bodies until their calls are answered, answers until they are
 * sent. Small ones do not count.
 */
export class MessageMemory {
  readonly maxBytes: number;
  /** Messages with at most this many bytes do not count. */
  readonly uncounted: number;
  readonly #held = new WeakMap<ServerResponse, HeldMessage>();
  #bytes = 0;

  constructor(maxBytes: number, uncounted: number) {
    this.maxBytes = maxBytes;
    this.uncounted = uncounted;
  }

  /** How many bytes are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Begins to hold the message of one request, until its response is closed at the latest. */
  hold(response: ServerResponse): HeldMessage {
    const held = new HeldMessage(this);
    // A response that is closed already does not say so again.
    if (response.closed || response.destroyed) held.release();
    else {
      this.#held.set(response, held);
      response.once('close', () => {
        held.release();
      });
    }
    return held;
  }

  /** The hold on the message of a request, if there is one. */
  held(response: ServerResponse): HeldMessage | undefined {
    return this.#held.get(response);
  }

  /** Ends the hold on the message of a request. */
  release(response: ServerResponse): void {
    this.#held.get(response)?.release();
  }

  /** Takes room for bytes, or gives it back for a negative number; false: there is too little. */
  take(bytes: number): boolean {
    if (bytes > 0 && this.#bytes + bytes > this.maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }
}

/** The bytes of one message. As long as it is small, none of them count; once it is large, all of them do. */
export class HeldMessage {
  readonly #memory: MessageMemory;
  #counted = 0;
  #released = false;

  constructor(memory: MessageMemory) {
    this.#memory = memory;
  }

  /** Says how many bytes there are now; false: there is no room for more than before. */
  resize(bytes: number): boolean {
    if (this.#released) return true;
    const counted = bytes > this.#memory.uncounted ? bytes : 0;
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
