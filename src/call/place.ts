import type { ServerResponse } from 'node:http';
import type { BodyReader } from '../http/content/body';
import type { InFlight } from './in-flight';
import type { LargeMessages } from './large-messages';

/** What the places of all calls are taken from. */
export interface Places {
  readonly inFlight: InFlight;
  readonly largeMessages: LargeMessages;
  readonly bodies: BodyReader;
}

/**
 * What one call holds while it is in progress: its slot among the calls in flight and, if its message is large, its turn.
 * Whatever happens to the call, each is given back exactly once.
 */
export class Place {
  readonly #places: Places;
  readonly #response: ServerResponse;
  #hasSlot = false;
  #endTurn: (() => void) | undefined;
  #isWaiting = false;
  #waited = 0;

  constructor(places: Places, response: ServerResponse) {
    this.#places = places;
    this.#response = response;
  }

  /** How long the call has waited in {@link Place.whileIdle}, in milliseconds. */
  get waited(): number {
    return this.#waited;
  }

  /** @throws {RequestError} 503: too many calls are in flight. */
  takeSlot(): void {
    this.#places.inFlight.enter();
    this.#hasSlot = true;
  }

  /** Resolves when the turn of a large message has come; at once where the call has it already. */
  async takeTurn(): Promise<void> {
    this.#endTurn ??= await this.#places.largeMessages.turn();
  }

  /**
   * Waits, as `Call.whileIdle` promises, without slot and turn, and without the memory of the body. The turn does not come
   * back: the message has been read.
   *
   * @throws {RequestError} 503: too many calls wait.
   */
  async whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (!this.#hasSlot || this.#isWaiting)
      throw new Error('A call can wait only while it is in progress, and once at a time.');
    const { inFlight, bodies } = this.#places;
    const waiting = inFlight.pause();
    this.#isWaiting = true;
    this.#leaveTurn();
    bodies.release(this.#response);
    const began = performance.now();
    const stopListening = whenGone(this.#response, () => {
      waiting.abort();
    });
    try {
      return await wait(waiting.signal);
    } finally {
      stopListening();
      this.#waited += performance.now() - began;
      this.#isWaiting = false;
      inFlight.resume(waiting);
      if (!this.#hasSlot) inFlight.leave();
    }
  }

  /** Gives back what the call holds. The slot of one that still waits is given back when its wait ends. */
  giveBack(): void {
    this.#leaveTurn();
    if (this.#hasSlot && !this.#isWaiting) this.#places.inFlight.leave();
    this.#hasSlot = false;
  }

  #leaveTurn(): void {
    this.#endTurn?.();
    this.#endTurn = undefined;
  }
}

/**
 * Calls back when the caller closes its connection, or its sending side: a caller that is gone and one that has only finished
 * sending look the same until something is sent to them.
 *
 * @returns stops that.
 */
function whenGone(response: ServerResponse, gone: () => void): () => void {
  const { socket } = response.req;
  response.once('close', gone);
  socket.once('end', gone);
  if (response.closed || socket.destroyed || socket.readableEnded) gone();
  return () => {
    response.off('close', gone);
    socket.off('end', gone);
  };
}
