import type { ServerResponse } from 'node:http';
import type { Config } from '../config/config';
import { HTTP_ERRORS } from '../http/errors';
import { unprovedShare } from '../http/content/message-memory';

/** The calls that are admitted to a service: those in progress and, counted apart from them, those that wait for events. */
export class Admission {
  /** How many calls are in progress. */
  inFlight = 0;
  /** How many of them are of callers who have proved nothing. */
  unproved = 0;
  /** Most calls in progress. */
  readonly maxInFlight: number;
  /** Most calls that wait: they leave connections for the others. */
  readonly maxWaiting: number;
  /** The calls that wait. Each controller is aborted when the service stops. */
  readonly waits = new Set<AbortController>();
  unprovedWaits = 0;
  isStopping = false;

  constructor({ maxInFlight, maxConnections }: Pick<Config['limits'], 'maxInFlight' | 'maxConnections'>) {
    this.maxInFlight = maxInFlight;
    this.maxWaiting = Math.ceil(maxConnections * 0.9);
  }

  /** Returns what a call needs to take its slot. */
  ticket(response: ServerResponse): Ticket {
    return new Ticket(this, response);
  }

  /** Ends all waits, and every later one as it begins: the service stops. */
  endWaits(): void {
    this.isStopping = true;
    for (const wait of this.waits) wait.abort();
  }
}

/** The slot of one call among the calls in flight. However the call ends, it is given back exactly once. */
export class Ticket {
  /** How long the call has waited in {@link Ticket.whileIdle}, in milliseconds. */
  waited = 0;
  #hasSlot = false;
  #isUnproved = false;
  #isWaiting = false;

  constructor(
    private readonly calls: Admission,
    private readonly response: ServerResponse,
  ) {}

  /** @param isUnproved - whether the caller has proved nothing: such callers share a part of the slots. */
  takeSlot(isUnproved = false): void {
    const { maxInFlight, inFlight, unproved } = this.calls;
    if (inFlight >= maxInFlight) throw HTTP_ERRORS.callsInFlight(maxInFlight);
    if (isUnproved && unproved >= unprovedShare(maxInFlight)) throw HTTP_ERRORS.unproved('calls in flight');
    this.#hasSlot = true;
    this.#isUnproved = isUnproved;
    this.#count(1);
  }

  /** Runs `wait` without the slot, then takes it back, even above MAX_IN_FLIGHT. Throws 503 if too many calls wait. */
  async whileIdle<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (!this.#hasSlot || this.#isWaiting)
      throw new Error('A call can wait only while it is in progress, and once at a time.');
    const { waits, maxWaiting, unprovedWaits, isStopping } = this.calls;
    if (waits.size >= maxWaiting) throw HTTP_ERRORS.callsWaiting(maxWaiting);
    if (this.#isUnproved && unprovedWaits >= unprovedShare(maxWaiting)) throw HTTP_ERRORS.unproved('waiting calls');
    const { response } = this;
    const { socket } = response.req;
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    // The caller closes its connection or its sending side, which look the same.
    response.once('close', stop);
    socket.once('end', stop);
    if (isStopping || response.closed || socket.destroyed || socket.readableEnded) stop();
    waits.add(waiting);
    if (this.#isUnproved) this.calls.unprovedWaits++;
    this.#count(-1);
    this.#isWaiting = true;
    const began = performance.now();
    try {
      return await wait(waiting.signal);
    } finally {
      response.off('close', stop);
      socket.off('end', stop);
      this.waited += performance.now() - began;
      this.#isWaiting = false;
      waits.delete(waiting);
      if (this.#isUnproved) this.calls.unprovedWaits--;
      if (this.#hasSlot) this.#count(1);
    }
  }

  /** Gives the slot back, unless the call waits: then it was given back before. */
  giveBack(): void {
    if (this.#hasSlot && !this.#isWaiting) this.#count(-1);
    this.#hasSlot = false;
  }

  #count(slots: 1 | -1): void {
    this.calls.inFlight += slots;
    if (this.#isUnproved) this.calls.unproved += slots;
  }
}
