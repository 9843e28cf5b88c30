import { setTimeout as delay } from 'node:timers/promises';
import type { Appended } from '../event-log';
import type { JetStreamIds } from './ids';
import {
  decodeReference,
  encodeEvent,
  encodeReference,
  requireEvent,
  type EventMessage,
  type Reference,
} from './message';
import type { StreamNames } from './schema';
import type { JetStreamStore } from './store';
import { keysOf, keySubject, slotSubject, type Key } from './subjects';

/** Pause before a subject is looked at again whose message has just gone, in milliseconds. */
const LOOK_PAUSE = 20;

/**
 * A claim without a reference that is older is taken for abandoned, in milliseconds. The age decides only who stores the
 * reference, never which event the key names.
 */
const ABANDONED_AGE = 60_000;

/** What an attempt comes to: where the event is, and whether this attempt recorded it. */
export type Outcome = Reference & Appended;

/** What every attempt to record an event uses. */
export interface Surroundings {
  readonly names: StreamNames;
  readonly store: JetStreamStore;
  readonly ids: JetStreamIds;
  /** Takes over work that goes on after an event was recorded, and may fail. */
  readonly afterwards: (work: Promise<unknown>) => void;
}

/** What came of putting an event into its slot. */
interface Filled {
  readonly outcome: Outcome;
  /** Whether it was stored just now. An acknowledgement that is lost leaves that open. */
  readonly isNew: boolean;
}

/** A claim of a key: a message in the stream of keys. */
interface Claim {
  readonly subject: string;
  readonly sequence: number;
}

/** One attempt to record one event. {@link JetStreamRecorder} explains how it works. */
export class Attempt {
  readonly #message: EventMessage;
  readonly #body: Buffer;
  readonly #surroundings: Surroundings;
  readonly #deadline: number;
  readonly #claims: Claim[] = [];

  constructor(message: EventMessage, surroundings: Surroundings, deadline: number) {
    this.#message = message;
    this.#body = encodeEvent(message);
    this.#surroundings = surroundings;
    this.#deadline = deadline;
  }

  /** Bytes of the event's message. */
  get bytes(): number {
    return this.#body.length;
  }

  /** Claims the keys that the sender gave the event, or finds the event that has one of them. */
  async claimKeys(): Promise<Outcome | undefined> {
    for (const key of keysOf(this.#message.event)) {
      const found = await this.#claim(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Records the event, unless its keys have led to one, and settles the claims. */
  async finish(found: Outcome | undefined): Promise<Outcome> {
    const outcome = found ?? (await this.#store());
    for (const claim of this.#claims) this.#surroundings.afterwards(this.#settle(claim, outcome));
    return outcome;
  }

  /** Refers to the event that was recorded. The claims of a repeat are erased: they hold a copy of it. */
  #settle({ subject, sequence }: Claim, outcome: Outcome): Promise<void> {
    const { names, store } = this.#surroundings;
    return outcome.recorded
      ? store.put(subject, encodeReference(outcome), this.#deadline)
      : store.erase(names.keys, sequence, this.#deadline);
  }

  /** Puts the event into its slot and enters it under its id, or finds it there. */
  async #store(): Promise<Outcome> {
    const { ids } = this.#surroundings;
    const { event } = this.#message;
    const [{ outcome, isNew }, isEntered] = await Promise.all([this.#fill(), ids.start(event, this.#deadline)]);
    if (isEntered || !outcome.recorded) return outcome;
    if (isNew) await ids.add(event, this.#deadline);
    else await ids.ensure(event, this.#deadline);
    return outcome;
  }

  /** Puts the event into its slot, or finds it there. */
  async #fill(): Promise<Filled> {
    const { names, store } = this.#surroundings;
    const { id } = this.#message.event;
    const slot = slotSubject(names.events, this.#message.event);
    for (;;) {
      const sequence = await store.putFirst(slot, this.#body, this.#deadline);
      if (sequence !== undefined) return { outcome: { id, recorded: true, sequence }, isNew: true };
      const existing = await store.last(names.events, slot, this.#deadline);
      if (existing !== undefined) {
        const { attempt } = requireEvent(existing.data);
        const recorded = attempt === this.#message.attempt;
        return { outcome: { id, recorded, sequence: existing.seq }, isNew: false };
      }
      await this.#pause();
    }
  }

  /** Claims a key for this attempt, or finds the event that has it, which is recorded if it is not yet. */
  async #claim(key: Key): Promise<Outcome | undefined> {
    const { names, store } = this.#surroundings;
    const subject = keySubject(names.keys, key);
    for (;;) {
      const sequence = await store.putFirst(subject, this.#body, this.#deadline);
      if (sequence !== undefined) {
        this.#claims.push({ subject, sequence });
        return undefined;
      }
      const last = await store.last(names.keys, subject, this.#deadline);
      if (last === undefined) {
        await this.#pause();
        continue;
      }
      const reference = decodeReference(last.data);
      if (reference === undefined) {
        const claim = requireEvent(last.data);
        if (claim.attempt !== this.#message.attempt) return this.#complete(claim, last.time);
        this.#claims.push({ subject, sequence: last.seq });
        return undefined;
      }
      if (await this.#isHeld(reference)) return { ...reference, recorded: false };
      // Up to this message only: another attempt may claim the key meanwhile.
      await store.removeBefore(names.keys, last.seq + 1, this.#deadline, subject);
    }
  }

  /** Does what the attempt that has claimed a key is doing, or would have done. */
  async #complete(claim: EventMessage, claimedAt: Date): Promise<Outcome> {
    const attempt = new Attempt(claim, this.#surroundings, this.#deadline);
    const isAbandoned = Date.now() - claimedAt.getTime() > ABANDONED_AGE;
    const found = await attempt.claimKeys();
    const outcome = isAbandoned ? await attempt.finish(found) : (found ?? (await attempt.#store()));
    return { ...outcome, recorded: false };
  }

  /** Whether the log still holds an event. A server that lags behind does not know of it yet. */
  async #isHeld({ sequence }: Reference): Promise<boolean> {
    const { names, store } = this.#surroundings;
    if ((await store.at(names.events, sequence, this.#deadline)) !== undefined) return true;
    return sequence > (await store.state(names.events, this.#deadline)).last;
  }

  async #pause(): Promise<void> {
    if (Date.now() + LOOK_PAUSE > this.#deadline) throw new Error('the stream did not settle in time');
    await delay(LOOK_PAUSE);
  }
}
