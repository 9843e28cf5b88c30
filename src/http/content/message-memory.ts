import type { ServerResponse } from 'node:http';

/** Messages of at most this many bytes do not count: a connection has one at a time. */
export const SMALL_MESSAGE = 4096;

/** Counts the bytes of large messages that are held: bodies until their calls are answered, answers until they are sent. */
export class MessageMemory {
  readonly #counted = new WeakMap<ServerResponse, number>();
  bytes = 0;

  constructor(readonly maxBytes: number) {}

  /** Counts a message with this size, in place of the one before, until its response is closed. Returns false if there is no room. */
  resize(response: ServerResponse, bytes: number): boolean {
    const before = this.#counted.get(response);
    const counted = bytes > SMALL_MESSAGE ? bytes : 0;
    const added = counted - (before ?? 0);
    // A response that is closed already, and so destroyed, does not say so again.
    if (added === 0 || response.destroyed) return true;
    if (this.bytes + added > this.maxBytes) return false;
    if (before === undefined) response.once('close', () => this.release(response));
    this.bytes += added;
    this.#counted.set(response, counted);
    return true;
  }

  release(response: ServerResponse): void {
    this.bytes -= this.#counted.get(response) ?? 0;
    this.#counted.delete(response);
  }
}
