import { setTimeout as delay } from 'node:timers/promises';
import { nuid } from '@nats-io/transport-node';
import type { Appended, NewEvent } from './event-log';
import type { JetStreamConnection } from './jetstream-connection';
import { decodeEvent, encodeEvent, type Attempt } from './jetstream-message';
import type { JetStreamSources } from './jetstream-sources';
import type { StreamNames } from './jetstream-streams';
import { jsonOf, slotOf, subjectOf, type Key } from './jetstream-subjects';
import type { JetStreamWriter } from './jetstream-writer';

/** Pause before a subject is looked at again whose message is just gone, in milliseconds. */
const LOOK_PAUSE = 20;

/** An event in the log. */
interface Recorded extends Appended {
  readonly sequence: number;
}

/** Where the event of a key is, as the stream of keys says it. */
interface Place {
  readonly id: string;
  readonly sequence: number;
}

/** What an attempt to record an event works with. */
interface Tools {
  readonly names: StreamNames;
  readonly writer: JetStreamWriter;
  readonly sources: JetStreamSources;
  /** Takes over what goes on after an event was recorded; it never rejects. */
  readonly afterwards: (work: Promise<unknown>) => void;
}

/**
 * Records events once, however many instances are told of them, by writes that the servers put in order and by nothing
 * else: no lock, no clock, and no reading that another server may contradict.
 *
 * The stream of events has a subject for each source and id, the slot. An event is stored in its slot on the condition that
 * the slot is empty, so the servers refuse a second one for as long as they keep the first. A further key (Idempotency-Key,
 * webhook-id) is claimed before, in the stream of keys and under the same condition, with a copy of the whole event; whoever
 * finds a claim whose event is not recorded yet records that event, and answers with its id. When the event is recorded
 * its place is written behind the claim. When retention has passed that place the key is free: the next claim is made on
 * a subject of its own, to which the place leads.
 */
export class JetStreamRecorder {
  readonly #connection: JetStreamConnection;
  readonly #tools: Tools;
  /** Places that are being written; nobody waits for them but `settled`. */
  readonly #placing = new Set<Promise<unknown>>();

  constructor(connection: JetStreamConnection, names: StreamNames, writer: JetStreamWriter, sources: JetStreamSources) {
    this.#connection = connection;
    const afterwards = (placing: Promise<unknown>): void => {
      this.#placing.add(placing);
      void placing.then(() => this.#placing.delete(placing));
    };
    this.#tools = { names, writer, sources, afterwards };
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
    return new Recording({ name: nuid.next(), event }, this.#tools, this.#connection.deadline());
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#placing);
  }
}

/** One attempt to record one event. */
class Recording {
  readonly #attempt: Attempt;
  readonly #body: Buffer;
  readonly #tools: Tools;
  readonly #deadline: number;
  /** The subjects on which keys are claimed for it. */
  readonly #claims: string[] = [];

  constructor(attempt: Attempt, tools: Tools, deadline: number) {
    this.#attempt = attempt;
    this.#body = encodeEvent(attempt);
    this.#tools = tools;
    this.#deadline = deadline;
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
      const found = await this.#claim(key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Records the event, unless its keys have led to one. */
  async finish(found: Recorded | undefined): Promise<Recorded> {
    const { names, writer, sources, afterwards } = this.#tools;
    const { id, source } = this.#attempt.event;
    let first = found;
    if (first === undefined) {
      const slot = slotOf(names.events, source, id);
      const [stored, listed] = await Promise.all([this.#store(slot), sources.start(id, source, this.#deadline)]);
      if (!listed) await sources.add(id, source, stored.recorded, this.#deadline);
      first = stored;
    }
    const body = placeBody(first);
    for (const subject of this.#claims) {
      // That it is not written does no harm: the claim leads to the same event.
      afterwards(writer.store(subject, body, this.#deadline).catch(() => undefined));
    }
    return first;
  }

  /** Puts the event into its slot, unless it is there. */
  async #store(slot: string): Promise<Recorded> {
    const { names, writer } = this.#tools;
    for (;;) {
      const sequence = await writer.storeFirst(slot, this.#body, this.#deadline);
      const { id } = this.#attempt.event;
      if (sequence !== undefined) return { id, recorded: true, sequence };
      const there = await writer.last(names.events, slot, this.#deadline);
      if (there !== undefined) {
        const { name } = decodeEvent(there.data);
        return { id, recorded: name === this.#attempt.name, sequence: there.seq };
      }
      await this.#pause();
    }
  }

  /** Takes a key for the attempt, or finds, and where need be records, the event that has it. */
  async #claim(key: Key): Promise<Recorded | undefined> {
    const { names, writer } = this.#tools;
    const start = subjectOf(names.keys, key);
    let subject = start;
    for (;;) {
      const claimed = await writer.storeFirst(subject, this.#body, this.#deadline);
      const last = claimed === undefined ? await writer.last(names.keys, subject, this.#deadline) : undefined;
      if (claimed !== undefined) {
        this.#claims.push(subject);
        return undefined;
      }
      if (last === undefined) {
        subject = start;
        await this.#pause();
        continue;
      }
      const place = parsePlace(last.data);
      if (place === undefined) {
        const holder = decodeEvent(last.data);
        if (holder.name !== this.#attempt.name) {
          return { ...(await new Recording(holder, this.#tools, this.#deadline).run()), recorded: false };
        }
        this.#claims.push(subject);
        return undefined;
      }
      if ((await writer.firstPosition(names.events, this.#deadline)) <= place.sequence) {
        return { ...place, recorded: false };
      }
      // What leads to the next claim has to be kept as long as that.
      await writer.store(start, placeBody(place), this.#deadline);
      subject = subjectOf(names.keys, [...key, 'after', String(place.sequence)]);
    }
  }

  async #pause(): Promise<void> {
    if (Date.now() + LOOK_PAUSE > this.#deadline) throw new Error('the stream did not settle in time');
    await delay(LOOK_PAUSE);
  }
}

const PLACE_START = '{"place"';

function placeBody({ id, sequence }: Place): Buffer {
  return Buffer.from(JSON.stringify({ place: { id, sequence } }));
}

/** Reads what {@link placeBody} writes; undefined: it is a claim. */
function parsePlace(body: Uint8Array): Place | undefined {
  const isPlace = Buffer.from(body.subarray(0, PLACE_START.length)).toString() === PLACE_START;
  return isPlace ? (jsonOf(body) as { place: Place }).place : undefined;
}
