import { nuid } from '@nats-io/transport-node';
import type { NewEvent } from '../../events/stored-event';
import type { Appended } from '../event-log';
import { Attempt, type Outcome, type Surroundings } from './attempt';
import type { JetStreamConnection } from './connection';
import type { JetStreamIds } from './ids';
import { encodeRange, lateRange, lateSubject } from './retention';
import type { StreamNames } from './schema';
import type { JetStreamStore } from './store';
import { keysOf } from './subjects';

/**
 * Records each event once, however many instances receive it. It relies on nothing but writes that the servers put in order:
 * no lock, no clock, and no reading that another server may contradict.
 *
 * The stream of events has a subject for each id and source, the slot. An event is stored in its slot on the condition that
 * the slot is empty, so the servers refuse a second one for as long as they keep the first. A further key (Idempotency-Key,
 * webhook-id) is claimed before, in the stream of keys and under the same condition, with a copy of the whole event; whoever
 * finds a claim whose event is not recorded yet records that event, and answers with its id. When the event is recorded,
 * a reference to it is stored after the claim. When the log no longer holds that event, whoever needs the key removes both
 * and claims it anew. So the stream of keys grows with the events, and not with their repeats.
 */
export class JetStreamRecorder {
  readonly #connection: JetStreamConnection;
  readonly #surroundings: Surroundings;
  #eventBytes = 0;
  /** Work on the keys of events that are recorded; only `settled` waits for it. */
  readonly #unfinished = new Set<Promise<unknown>>();

  constructor(connection: JetStreamConnection, names: StreamNames, store: JetStreamStore, ids: JetStreamIds) {
    this.#connection = connection;
    const afterwards = (work: Promise<unknown>): void => {
      // The keys lead to the same event whether or not this goes well.
      const attempted = work.catch(() => undefined);
      this.#unfinished.add(attempted);
      void attempted.then(() => this.#unfinished.delete(attempted));
    };
    this.#surroundings = { names, store, ids, afterwards };
  }

  /** Records events in the order given. */
  async record(events: readonly NewEvent[]): Promise<Appended[]> {
    const appended: Appended[] = [];
    for (const part of partsWithoutSharedKeys(events)) appended.push(...(await this.#recordPart(part)));
    return appended;
  }

  /** Claims the keys of all events first, and then stores the events without a wait between them. */
  async #recordPart(events: readonly NewEvent[]): Promise<Appended[]> {
    const attempts = events.map((event) => this.#attempt(event));
    const found = await Promise.all(attempts.map((attempt) => attempt.claimKeys()));
    const outcomes = await Promise.all(attempts.map((attempt, i) => attempt.finish(found[i])));
    await this.#noteLate(events, outcomes);
    return outcomes.map(({ id, recorded }) => ({ id, recorded }));
  }

  /** Notes where events are that were recorded long before they are stored, since their streams count their age from now. */
  async #noteLate(events: readonly NewEvent[], outcomes: readonly Outcome[]): Promise<void> {
    const range = lateRange(events, outcomes);
    if (range === undefined) return;
    const { names, store } = this.#surroundings;
    await store.put(lateSubject(names.keys), encodeRange(range), this.#connection.deadline());
  }

  #attempt(event: NewEvent): Attempt {
    const attempt = new Attempt({ attempt: nuid.next(), event }, this.#surroundings, this.#connection.deadline());
    this.#eventBytes = attempt.bytes;
    return attempt;
  }

  /** Bytes of the message of the event that came last; 0: none has come yet. */
  get eventBytes(): number {
    return this.#eventBytes;
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#unfinished);
  }
}

/** Maximum events that are recorded together: each part of a batch has a deadline of its own. */
const PART_EVENTS = 500;

/**
 * Splits events, in their order, into parts, also where one has the key of another: whoever finds the claim of a key records its event at
 * once, before those that were given earlier.
 */
function partsWithoutSharedKeys(events: readonly NewEvent[]): NewEvent[][] {
  const parts: NewEvent[][] = [];
  let part: NewEvent[] = [];
  let keys = new Set<string>();
  for (const event of events) {
    const given = keysOf(event).map((key) => key.join(' '));
    if (part.length === 0 || part.length === PART_EVENTS || given.some((key) => keys.has(key))) {
      part = [];
      keys = new Set();
      parts.push(part);
    }
    part.push(event);
    for (const key of given) keys.add(key);
  }
  return parts;
}
