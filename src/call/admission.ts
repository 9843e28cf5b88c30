import type { ServerResponse } from 'node:http';
import type { BodyLimit, BodyReader } from '../http/content/body';
import type { HttpRequest } from '../http/request';
import { HTTP_ERRORS } from '../http/errors';
import { deferred, letOthersRun } from '../util/promises';

/** How many calls are admitted. */
export interface AdmissionLimits {
  /** Most calls in progress. */
  readonly maxInFlight: number;
  /** Most calls that wait for events. */
  readonly maxWaiting: number;
}

/**
 * Admits calls: counts those in progress, and apart from them those that wait for events, refuses those above its limits, and
 * makes calls with large messages take turns.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #bodies: BodyReader;
  readonly #waits = new Set<AbortController>();
  #inFlight = 0;
  #isStopping = false;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(limits: AdmissionLimits, bodies: BodyReader) {
    this.#limits = limits;
    this.#bodies = bodies;
  }

  /** Most calls in progress. */
  get maxInFlight(): number {
    return this.#limits.maxInFlight;
  }

  /** How many calls are in progress. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many calls wait for events. */
  get waiting(): number {
    return this.#waits.size;
  }

  /** Makes the ticket of a call that has just arrived. It holds nothing yet. */
  ticket(response: ServerResponse): Ticket {
    return new Ticket(this, this.#bodies, response);
  }

  /**
   * Counts one more call in progress.
   *
   * @throws {RequestError} 503: too many are.
   */
  enter(): void {
    const { maxInFlight } = this.#limits;
    if (this.#inFlight >= maxInFlight) throw HTTP_ERRORS.callsInFlight(maxInFlight);
    this.#inFlight++;
  }

  /** Counts one call in progress less. */
  leave(): void {
    this.#inFlight--;
  }

  /**
   * Counts a call in progress as one that waits instead.
   *
   * @returns the controller that is aborted when the service stops.
   * @throws {RequestError} 503: too many wait; the call is still in progress.
   */
  pause(): AbortController {
    const { maxWaiting } = this.#limits;
    if (this.#waits.size >= maxWaiting) throw HTTP_ERRORS.callsWaiting(maxWaiting);
    const wait = new AbortController();
    if (this.#isStopping) wait.abort();
    this.#waits.add(wait);
    this.#inFlight--;
    return wait;
  }

  /** Counts a call that waited as one in progress again, however many others are. */
  resume(wait: AbortController): void {
    this.#waits.delete(wait);
    this.#inFlight++;
  }

  /** Resolves when the turn of a large message has come, to the function that ends it. Small calls run between two turns. */
  async turn(): Promise<() => void> {
    const ended = deferred();
    const before = this.#lastTurn;
    this.#lastTurn = before.then(() => ended.promise).then(letOthersRun);
    await before;
    return ended.resolve;
  }

  /** Ends all waits, and every later one as it begins: the service stops. */
  endWaits(): void {
    this.#isStopping = true;
    for (const wait of this.#waits) wait.abort();
  }
}

/**
 * What one call holds: the memory of its body, its slot among the calls in flight and, if its message is large, its turn.
 * However the call ends, each is given back exactly once.
 */
export class Ticket {
  readonly #admission: Admission;
  readonly #bodies: BodyReader;
  readonly #response: ServerResponse;
  #hasSlot = false;
  #isWaiting = false;
  #waited = 0;
  #endTurn: (() => void) | undefined;

  constructor(admission: Admission, bodies: BodyReader, response: ServerResponse) {
    this.#admission = admission;
    this.#bodies = bodies;
    this.#response = response;
  }

  /** How long the call has waited in {@link Ticket.whileIdle}, in milliseconds. */
  get waited(): number {
    return this.#waited;
  }

  /**
   * Reads the body of the call, as {@link BodyReader.read} does. Its memory counts until the answer is sent or the call waits.
   *
   * @throws {RequestError} it cannot be read, or there is no memory left for it.
   */
  readBody(request: HttpRequest, limit: BodyLimit | undefined): Promise<Buffer> {
    return this.#bodies.read(request, this.#response, limit);
  }

  /** @throws {RequestError} 503: too many calls are in flight. */
  takeSlot(): void {
    this.#admission.enter();
    this.#hasSlot = true;
  }

  /** Resolves when the turn of a large message has come; at once if the call has it already. */
  async takeTurn(): Promise<void> {
    this.#endTurn ??= await this.#admission.turn();
  }

  /**
   * Waits, as `Call.whileIdle` promises, without slot, turn and the memory of the body.
   *
   * @throws {RequestError} 503: too many calls wait.
   */
  async whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (!this.#hasSlot || this.#isWaiting)
      throw new Error('A call can wait only while it is in progress, and once at a time.');
    const waiting = this.#admission.pause();
    this.#isWaiting = true;
    this.leaveTurn();
    this.#bodies.release(this.#response);
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
      this.#admission.resume(waiting);
      if (!this.#hasSlot) this.#admission.leave();
    }
  }

  /** Gives back slot and turn. The slot of a call that still waits is given back when its wait ends. */
  giveBack(): void {
    this.leaveTurn();
    if (this.#hasSlot && !this.#isWaiting) this.#admission.leave();
    this.#hasSlot = false;
  }

  /** Gives back the turn, which does not come back: the message has been read. */
  leaveTurn(): void {
    this.#endTurn?.();
    this.#endTurn = undefined;
  }
}

/**
 * Calls back when the caller closes its connection, or its sending side: a caller that is gone and one that has only finished
 * sending look the same until something is sent to them.
 *
 * @returns removes the listeners.
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
