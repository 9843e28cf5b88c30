import { setTimeout as delay } from 'node:timers/promises';
import { nuid } from '@nats-io/transport-node';
import type { NewEvent } from '../../events/stored-event';
import { EventTooLargeError, isRepetition, type Appended } from '../engine';
import {
  decodeEvent,
  decodeReference,
  encodeEvent,
  encodeReference,
  IDEMPOTENCY_KEY,
  keysOf,
  keySubject,
  requireEvent,
  slotSubject,
  type EventMessage,
  type Key,
  type Reference,
} from './message';
import type { BeginCall, LogStreams } from './stream';

/** Maximum events that are recorded together: each part of a batch has a deadline of its own. */
const PART_EVENTS = 500;

/** Pause before a subject is looked at again whose message has just gone, in milliseconds. */
const LOOK_PAUSE = 20;

/** How far the leader of the stream of events may lag behind that of the keys, as after an election, in milliseconds. */
const LONGEST_LAG = 10_000;

/** The result of an attempt: the place of the event, and whether this attempt recorded it. */
type Stored = Reference & Appended;

/**
 * Records each event once, in the order given, however many instances receive it. It relies on nothing but writes that the servers put
 * in order: no lock, no clock, and no reading that another server may contradict.
 *
 * The stream of events has a subject for each id and source, the slot. An event is stored in its slot on the condition that
 * the slot is empty, so the servers refuse a second one for as long as they keep the first. A further key (Idempotency-Key,
 * webhook-id) is claimed before, in the stream of keys and under the same condition, with a copy of the whole event; an
 * instance that finds a claim whose event is not recorded yet records that event, and answers with its id. When the event is
 * recorded, a reference to it is stored after the claim. When the log no longer holds that event, an instance that needs the
 * key removes both and claims it anew. So the stream of keys grows with the events, and not with their repeats.
 */
export async function recordEvents(begin: BeginCall, events: readonly NewEvent[]): Promise<Appended[]> {
  const messages = events.map((event) => messageOf({ attempt: nuid.next(), event }));
  const maxBytes = begin().events.maxBytes();
  for (const { event, body } of messages) {
    if (body.length > maxBytes) throw new EventTooLargeError(event.id, body.length, maxBytes);
  }
  const appended: Appended[] = [];
  for (const part of partsWithoutSharedKeys(messages)) {
    const streams = begin();
    const attempts = part.map((message) => new Attempt(message, streams));
    // All keys first: then the events are stored without a wait between them.
    const found = await Promise.all(attempts.map((attempt) => attempt.claimKeys()));
    const outcomes = await Promise.all(attempts.map((attempt, i) => attempt.finish(found[i])));
    appended.push(...outcomes.map(({ id, recorded, conflict }) => ({ id, recorded, conflict })));
  }
  return appended;
}

/** Splits events, in their order: one that finds the key of another claimed would record that before those given earlier. */
function partsWithoutSharedKeys(messages: readonly EncodedMessage[]): EncodedMessage[][] {
  const parts: EncodedMessage[][] = [];
  let part: EncodedMessage[] = [];
  let keys = new Set<string>();
  for (const message of messages) {
    const given = keysOf(message.event).map((key) => key.join(' '));
    if (part.length === 0 || part.length === PART_EVENTS || given.some((key) => keys.has(key))) {
      part = [];
      keys = new Set();
      parts.push(part);
    }
    part.push(message);
    for (const key of given) keys.add(key);
  }
  return parts;
}

/** An event with the name of the attempt that stores it, and as it is stored. */
interface EncodedMessage extends EventMessage {
  readonly body: Buffer;
}

function messageOf(message: EventMessage): EncodedMessage {
  return { ...message, body: encodeEvent(message) };
}

/** A claim of a key: a message in the stream of keys. */
interface Claim {
  readonly subject: string;
  readonly sequence: number;
}

/** One attempt to record one event. */
class Attempt {
  readonly #message: EncodedMessage;
  readonly #streams: LogStreams;
  readonly #claims: Claim[] = [];

  constructor(message: EncodedMessage, streams: LogStreams) {
    this.#message = message;
    this.#streams = streams;
  }

  /** Claims the keys that the sender gave the event, or finds the event that has one of them. */
  async claimKeys(): Promise<Stored | undefined> {
    for (const key of keysOf(this.#message.event)) {
      const found = await this.#claim(key);
      if (found !== undefined) return key[0] === IDEMPOTENCY_KEY ? this.#compared(found) : found;
    }
    return undefined;
  }

  /** Says whether the event that has this one's Idempotency-Key is another. */
  async #compared(found: Stored): Promise<Stored> {
    for (;;) {
      const stored = await this.#streams.events.at(found.sequence);
      const first = stored && requireEvent(stored.data).event;
      if (first?.id !== found.id) await this.#pause();
      else return isRepetition(this.#message.event, first) ? found : { ...found, conflict: true };
    }
  }

  /** Records the event, unless its keys have led to one, and settles the claims. */
  async finish(found: Stored | undefined): Promise<Stored> {
    const outcome = found ?? (await this.#store());
    const { keys } = this.#streams;
    // The claims of a repeat are erased: they hold a copy of it. What fails, the next delivery with the key does.
    const settled = this.#claims.map(({ subject, sequence }) =>
      outcome.recorded ? keys.putAfter(sequence, subject, encodeReference(outcome)) : keys.erase(sequence),
    );
    await Promise.allSettled(settled);
    return outcome;
  }

  /** Puts the event into its slot, or finds it there. */
  async #store(): Promise<Stored> {
    const { events } = this.#streams;
    const { event, attempt, body } = this.#message;
    const slot = slotSubject(events, event);
    for (;;) {
      const sequence = await events.putAfter(0, slot, body);
      if (sequence !== undefined) return { id: event.id, recorded: true, sequence };
      const existing = await events.last(slot);
      if (existing !== undefined) {
        // The acknowledgement of this attempt may be lost.
        const recorded = requireEvent(existing.data).attempt === attempt;
        return { id: event.id, recorded, sequence: existing.seq };
      }
      await this.#pause();
    }
  }

  /** Claims a key for this attempt, or finds the event that has it, which is recorded if it is not yet. */
  async #claim(key: Key): Promise<Stored | undefined> {
    const { keys } = this.#streams;
    const subject = keySubject(keys, key);
    for (;;) {
      const sequence = await keys.putAfter(0, subject, this.#message.body);
      if (sequence !== undefined) {
        this.#claims.push({ subject, sequence });
        return undefined;
      }
      const last = await keys.last(subject);
      if (last === undefined) {
        await this.#pause();
        continue;
      }
      const reference = decodeReference(last.data);
      if (reference === undefined) {
        const claim = requireEvent(last.data);
        if (claim.attempt !== this.#message.attempt) return this.#complete(claim);
        this.#claims.push({ subject, sequence: last.seq });
        return undefined;
      }
      if (await this.#isHeld(reference, last.time)) return { ...reference, recorded: false };
      // Up to this message only: another attempt may claim the key meanwhile.
      await keys.removeBefore(last.seq + 1, subject);
    }
  }

  /** Does what the attempt that has claimed a key is doing, or would have done. */
  async #complete(claim: EventMessage): Promise<Stored> {
    const attempt = new Attempt(messageOf(claim), this.#streams);
    return { ...(await attempt.finish(await attempt.claimKeys())), recorded: false };
  }

  /**
   * Whether the log holds the event of a reference. A server that lags behind does not know of it yet; for longer than that only a
   * stream that an earlier copy of itself has replaced, or that has lost its last events, ends before it.
   */
  async #isHeld({ id, sequence }: Reference, storedAt: Date): Promise<boolean> {
    const { events } = this.#streams;
    const found = await events.at(sequence);
    if (found !== undefined) return decodeEvent(found.data)?.event.id === id;
    return Date.now() - storedAt.getTime() < LONGEST_LAG && sequence > (await events.state()).last;
  }

  async #pause(): Promise<void> {
    if (performance.now() + LOOK_PAUSE > this.#streams.deadline) throw new Error('the stream did not settle in time');
    await delay(LOOK_PAUSE);
  }
}
