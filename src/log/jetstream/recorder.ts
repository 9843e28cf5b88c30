import { setTimeout as delay } from 'node:timers/promises';
import { nuid } from '@nats-io/transport-node';
import { KeyConflict } from '../../events/key-conflict';
import type { NewEvent } from '../../events/stored-event';
import { EventTooLargeError, type Appended } from '../engine';
import {
  decodeEvent,
  decodeReference,
  encodeEvent,
  encodeReference,
  keysOf,
  requireEvent,
  slotSubject,
  type EventMessage,
  type Reference,
} from './message';
import type { BeginCall, LogStreams, Message, Stream } from './stream';

/** Maximum events that are recorded together, with a deadline of their own. */
const PART_EVENTS = 500;

/** Pause before another look at what other instances or servers are about to change, in milliseconds. */
const RETRY_PAUSE = 20;

/** How far the leader of the stream of events may lag behind that of the keys, as after an election, in milliseconds. */
const LONGEST_LAG = 10_000;

type Stored = Reference & Appended;

/**
 * Records each event once, in the order given, however many instances receive it. A NATS stream keeps messages in one order, each on a
 * subject, and can refuse one whose subject is not empty: that alone decides which instance was first.
 *
 * In the stream of events each id and source have a subject, the slot of one event; in that of keys each `Idempotency-Key` and `webhook-id`.
 *
 * 1. An attempt puts a copy of the event, its claim, on the subject of each key. If there is a claim, it takes these steps for that one.
 * 2. It puts the event into its slot.
 * 3. It puts a reference to the recorded event after each claim.
 *
 * Once the log no longer holds that event, an attempt that needs the key removes claim and reference.
 */
export async function recordEvents(begin: BeginCall, events: readonly NewEvent[]): Promise<Appended[]> {
  const messages = events.map((event) => messageOf({ attempt: nuid.next(), event }));
  const { maxBytes, keys } = begin();
  for (const { event, body } of messages)
    if (body.length > maxBytes) throw new EventTooLargeError(event.id, body.length, maxBytes);
  const outcomes: Appended[] = [];
  for (const part of partsWithoutSharedKeys(messages, keys.name)) {
    const streams = begin();
    const attempts = part.map((message) => new Attempt(message, streams));
    // All keys first: then the events are stored without a wait between them.
    const found = await Promise.all(attempts.map((attempt) => attempt.claimKeys()));
    const ofPart = await Promise.all(attempts.map((attempt, i) => attempt.finish(found[i])));
    outcomes.push(...ofPart.map(({ id, recorded, conflict }) => ({ id, recorded, conflict })));
  }
  return outcomes;
}

/** Splits events so that no two of a part share a key: one that finds its key claimed would record the claim's event out of order. */
function partsWithoutSharedKeys(messages: readonly EncodedMessage[], stream: string): EncodedMessage[][] {
  const parts: EncodedMessage[][] = [];
  let part: EncodedMessage[] = [];
  let keys = new Set<string>();
  for (const message of messages) {
    const given = keysOf(stream, message.event).map(({ subject }) => subject);
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

type EncodedMessage = EventMessage & { readonly body: Buffer };

function messageOf(message: EventMessage): EncodedMessage {
  return { ...message, body: encodeEvent(message) };
}

/** One attempt to record one event. */
class Attempt {
  /** Where its claims are in the stream of keys. */
  readonly #claims: { readonly subject: string; readonly position: number }[] = [];

  constructor(
    private readonly message: EncodedMessage,
    private readonly streams: LogStreams,
  ) {}

  /** Claims the keys that the sender gave the event, or finds the event that has one of them. */
  async claimKeys(): Promise<Stored | undefined> {
    for (const { key, subject } of keysOf(this.streams.keys.name, this.message.event)) {
      const found = await this.#claim(subject);
      if (found !== undefined) return this.#compared(found, key);
    }
    return undefined;
  }

  /** Compares the event with the recorded one that has its key, once the leader has that. */
  async #compared(found: Stored, key: KeyConflict['key']): Promise<Stored> {
    for (;;) {
      const stored = await this.streams.events.at(found.sequence);
      const first = stored && requireEvent(stored.data).event;
      if (first?.id !== found.id) await this.#pause();
      else return { ...found, conflict: KeyConflict.between(key, this.message.event, first) };
    }
  }

  /** Records the event, unless its keys have led to one, and settles the claims. */
  async finish(found: Stored | undefined): Promise<Stored> {
    const outcome = found ?? (await this.#store());
    const { keys } = this.streams;
    // The claims of a repeat hold a copy of it. What fails here, the next delivery with the key does.
    const settling = this.#claims.map(({ subject, position }) =>
      outcome.recorded ? keys.putAfter(position, subject, encodeReference(outcome)) : keys.erase(position),
    );
    await Promise.allSettled(settling);
    return outcome;
  }

  /** Puts the event into its slot, or finds it there. */
  async #store(): Promise<Stored> {
    const { events } = this.streams;
    const { event } = this.message;
    const { position, earlier } = await this.#put(events, slotSubject(events.name, event));
    return { id: event.id, recorded: earlier === undefined, sequence: position };
  }

  /** Claims a key by its subject, or finds the event that has it, which is recorded if it is not yet. */
  async #claim(subject: string): Promise<Stored | undefined> {
    const { keys } = this.streams;
    for (;;) {
      const { position, earlier } = await this.#put(keys, subject);
      if (earlier === undefined) {
        this.#claims.push({ subject, position });
        return undefined;
      }
      const reference = decodeReference(earlier.data);
      if (reference === undefined) return this.#finishOther(requireEvent(earlier.data));
      if (await this.#isInLog(reference, earlier.time)) return { ...reference, recorded: false };
      // Up to this message only: another attempt may claim the key meanwhile.
      await keys.removeBefore(position + 1, subject);
    }
  }

  /** Puts the event on an empty subject. Resolves to its position, or to that of the last message there, `earlier`, of another attempt. */
  async #put(stream: Stream, subject: string): Promise<{ position: number; earlier?: Message | undefined }> {
    for (;;) {
      const position = await stream.putFirst(subject, this.message.body);
      if (position !== undefined) return { position };
      const last = await stream.last(subject);
      if (last !== undefined) return { position: last.seq, earlier: this.#isOwn(last) ? undefined : last };
      await this.#pause();
    }
  }

  /** True for a message of this attempt: its acknowledgement was lost. */
  #isOwn({ data }: Message): boolean {
    return decodeReference(data) === undefined && requireEvent(data).attempt === this.message.attempt;
  }

  /** Finishes the attempt of an instance that has claimed a key, and may have been killed. */
  async #finishOther(claim: EventMessage): Promise<Stored> {
    const attempt = new Attempt(messageOf(claim), this.streams);
    return { ...(await attempt.finish(await attempt.claimKeys())), recorded: false };
  }

  /** Whether the log holds the event of a reference. A leader may lag behind, but not for long: then a copy has replaced the stream. */
  async #isInLog({ id, sequence }: Reference, storedAt: Date): Promise<boolean> {
    const { events } = this.streams;
    const found = await events.at(sequence);
    if (found !== undefined) return decodeEvent(found.data)?.event.id === id;
    return Date.now() - storedAt.getTime() < LONGEST_LAG && sequence > (await events.state()).last_seq;
  }

  async #pause(): Promise<void> {
    if (performance.now() + RETRY_PAUSE > this.streams.deadline) throw new Error('the stream did not settle in time');
    await delay(RETRY_PAUSE);
  }
}
