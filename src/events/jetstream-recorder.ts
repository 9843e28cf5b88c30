import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredMsg } from '@nats-io/jetstream';
import { nuid } from '@nats-io/transport-node';
import type { Appended, NewEvent } from './event-log';
import type { JetStreamConnection } from './jetstream-connection';
import { decodeEvent, encodeEvent, type Attempt } from './jetstream-message';
import type { StreamNames } from './jetstream-streams';
import { JetStreamWriter } from './jetstream-writer';

/** On an event that shares its id with events of other sources: the position of the one before. */
export const PREVIOUS_HEADER = 'Webhook-Previous';
/** On a claim: see {@link Claim.after}. */
const AFTER_HEADER = 'Webhook-After';

/** Pause before a subject is looked at again whose message is on its way or just gone, in milliseconds. */
const LOOK_PAUSE = 20;

/** What names an event: the kind of name, and the name. */
type Key = readonly [kind: string, ...name: string[]];

/** An event in the log. */
interface Recorded extends Appended {
  readonly sequence: number;
}

/** A key that an attempt holds. */
interface Claim {
  readonly key: Key;
  /** Position of the claim in the stream of keys. */
  readonly sequence: number;
  /** The event is at no position up to this one: the last in its slot when the claim was made. */
  readonly after: number;
}

/** What the stream of keys says of a key whose event is in the log. */
interface Place {
  readonly place: { readonly id: string; readonly sequence: number };
}

/** The subject on which the stream keeps the events with an id. */
export function slotOf({ events }: StreamNames, id: string): string {
  return `${events}.${digest(['id', id])}`;
}

/**
 * Records events once, however many instances are told of them, by writes that the servers put in order and by nothing
 * else: no lock, no clock, and no reading that another server may contradict.
 *
 * The stream of events has a subject for each id, its slot. An event is published to its slot on the condition that the
 * slot is empty, so the servers refuse a second one for as long as they keep the first. A further key (Idempotency-Key,
 * webhook-id) is claimed before, in the stream of keys and under the same condition, with a copy of the whole event; whoever
 * finds a claim whose event is not recorded yet records that event, and answers with its id. When the event is recorded
 * its place takes the place of the claim; a place that retention has passed frees the key.
 *
 * An id that several sources use is the exception: from the second source on, an event in the slot is claimed by source
 * and id as well, and names the one before it.
 */
export class JetStreamRecorder {
  readonly #names: StreamNames;
  readonly #writer: JetStreamWriter;
  readonly #connection: JetStreamConnection;
  /** Places that are being written; nobody waits for them but `settled`. */
  readonly #placing = new Set<Promise<unknown>>();

  constructor(connection: JetStreamConnection, names: StreamNames) {
    this.#connection = connection;
    this.#names = names;
    this.#writer = new JetStreamWriter(connection);
  }

  async record(event: NewEvent): Promise<Appended> {
    const { id, recorded } = await this.#recording(event).run();
    return { id, recorded };
  }

  /** Records events in their order: the keys of all are claimed first, and then nothing is waited for between events. */
  async recordAll(events: readonly NewEvent[]): Promise<Appended[]> {
    const recordings = events.map((event) => this.#recording(event));
    const found = await Promise.all(recordings.map((recording) => recording.claimKeys()));
    const all = await Promise.all(recordings.map((recording, i) => recording.finish(found[i])));
    return all.map(({ id, recorded }) => ({ id, recorded }));
  }

  #recording(event: NewEvent): Recording {
    const attempt = { name: nuid.next(), event };
    return new Recording(attempt, this.#names, this.#writer, this.#connection.deadline(), (placing) => {
      this.#placing.add(placing);
      void placing.then(() => this.#placing.delete(placing));
    });
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#placing);
  }
}

/** Takes over what goes on after an event was recorded, and never rejects. */
type Afterwards = (work: Promise<unknown>) => void;

/** One attempt to record one event. */
class Recording {
  readonly #attempt: Attempt;
  readonly #body: Buffer;
  readonly #names: StreamNames;
  readonly #writer: JetStreamWriter;
  readonly #deadline: number;
  readonly #afterwards: Afterwards;
  readonly #held: Claim[] = [];

  constructor(attempt: Attempt, names: StreamNames, writer: JetStreamWriter, deadline: number, afterwards: Afterwards) {
    this.#attempt = attempt;
    this.#body = encodeEvent(attempt);
    this.#names = names;
    this.#writer = writer;
    this.#deadline = deadline;
    this.#afterwards = afterwards;
  }

  async run(): Promise<Recorded> {
    return this.finish(await this.claimKeys());
  }

  /** Takes the keys that the sender gave the event, or finds the event that has one of them. */
  async claimKeys(): Promise<Recorded | undefined> {
    const { idempotencyKey, webhookId } = this.#attempt.event;
    const keys: Key[] = [];
    if (idempotencyKey !== undefined) keys.push(['idempotency-key', idempotencyKey]);
    if (webhookId !== undefined) keys.push(['webhook-id', webhookId]);
    for (const key of keys) {
      const claimed = await this.#claim(key, 0);
      if ('recorded' in claimed) return claimed;
    }
    return undefined;
  }

  /** Records the event, unless its keys have led to one. */
  async finish(found: Recorded | undefined): Promise<Recorded> {
    const first = found ?? (await this.#publish());
    // That a place is not written does no harm: the claim leads to the same event.
    for (const { key, sequence } of this.#held) {
      this.#afterwards(this.#place(key, first, sequence).catch(() => undefined));
    }
    return first;
  }

  /** Puts the event into its slot, unless it is there. */
  async #publish(): Promise<Recorded> {
    const { name, event } = this.#attempt;
    const subject = slotOf(this.#names, event.id);
    let previous = 0;
    let claim: Claim | undefined;
    for (;;) {
      const fields = claim === undefined ? {} : { [PREVIOUS_HEADER]: String(previous) };
      const message = { subject, body: this.#body, previous, name, fields };
      const sequence = await this.#writer.store(message, this.#deadline);
      if (sequence !== undefined) return { id: event.id, recorded: true, sequence };
      const last = await this.#writer.last(this.#names.events, subject, this.#deadline);
      if (last === undefined) {
        previous = 0;
        await this.#pause();
        continue;
      }
      const there = this.#found(last);
      if (there !== undefined) return there;
      if (claim === undefined) {
        // The first in the slot needed no claim; it does when it is not the last in it any more.
        if (!last.header.has(PREVIOUS_HEADER)) await this.#placeOf(last);
        const claimed = await this.#claim(eventKey(event), last.seq);
        if ('recorded' in claimed) return claimed;
        claim = claimed;
      }
      // Whoever found the claim may have recorded the event, and others theirs behind it.
      const before = await this.#foundBefore(last, claim.after);
      if (before !== undefined) return before;
      previous = last.seq;
    }
  }

  /** The event at hand, if it is the one in a message. */
  #found({ seq: sequence, data }: StoredMsg): Recorded | undefined {
    const { name, event } = decodeEvent(data);
    const { id, source } = this.#attempt.event;
    if (event.id !== id || event.source !== source) return undefined;
    return { id, recorded: name === this.#attempt.name, sequence };
  }

  /** Looks for the event at hand in its slot, from before a message back to a position. */
  async #foundBefore(message: StoredMsg, after: number): Promise<Recorded | undefined> {
    for (let at: StoredMsg | undefined = message; at !== undefined;) {
      const position = Number(at.header.get(PREVIOUS_HEADER));
      if (position <= after) return undefined;
      at = await this.#writer.at(this.#names.events, position, this.#deadline);
      const found = at && this.#found(at);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Takes a key for the attempt, or finds, and where need be records, the event that has it. */
  async #claim(key: Key, after: number): Promise<Claim | Recorded> {
    const subject = this.#subjectOf(key);
    // A key of each kind has a message id of its own, under which the stream stores one message.
    const name = `${this.#attempt.name}.${key[0]}`;
    const fields = { [AFTER_HEADER]: String(after) };
    let previous = 0;
    for (;;) {
      const message = { subject, body: this.#body, previous, name, fields };
      const sequence = await this.#writer.store(message, this.#deadline);
      if (sequence !== undefined) return this.#hold({ key, sequence, after });
      const last = await this.#writer.last(this.#names.keys, subject, this.#deadline);
      const place = last && parsePlace(last.data);
      if (last === undefined) {
        previous = 0;
        await this.#pause();
      } else if (place === undefined) {
        const holder = decodeEvent(last.data);
        if (holder.name === this.#attempt.name) {
          return this.#hold({ key, sequence: last.seq, after: Number(last.header.get(AFTER_HEADER)) });
        }
        const recording = new Recording(holder, this.#names, this.#writer, this.#deadline, this.#afterwards);
        return { ...(await recording.run()), recorded: false };
      } else if ((await this.#writer.firstPosition(this.#names.events, this.#deadline)) <= place.sequence) {
        return { ...place, recorded: false };
      } else {
        previous = last.seq;
      }
    }
  }

  #hold(claim: Claim): Claim {
    this.#held.push(claim);
    return claim;
  }

  /** Writes where the event of a message is under its source and id, unless something is there. */
  async #placeOf({ data, seq: sequence }: StoredMsg): Promise<void> {
    const { event } = decodeEvent(data);
    await this.#place(eventKey(event), { id: event.id, sequence }, 0);
  }

  #place(key: Key, { id, sequence }: Place['place'], previous: number): Promise<number | undefined> {
    const body = Buffer.from(JSON.stringify({ place: { id, sequence } } satisfies Place));
    return this.#writer.store({ subject: this.#subjectOf(key), body, previous, name: nuid.next() }, this.#deadline);
  }

  #subjectOf(key: Key): string {
    return `${this.#names.keys}.${digest(key)}`;
  }

  async #pause(): Promise<void> {
    if (Date.now() + LOOK_PAUSE > this.#deadline) throw new Error('the stream did not settle in time');
    await delay(LOOK_PAUSE);
  }
}

/** The key under which an event is claimed that shares its id with one of another source. */
function eventKey({ id, source }: NewEvent): Key {
  return ['event', source, id];
}

/** Names a key in 22 characters, whatever it holds. */
function digest(key: Key): string {
  return createHash('sha256').update(JSON.stringify(key)).digest().toString('base64url', 0, 16);
}

function parsePlace(body: Uint8Array): Place['place'] | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  return text.startsWith('{"place"') ? (JSON.parse(text) as Place).place : undefined;
}
