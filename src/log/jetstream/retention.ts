import type { NewEvent } from '../../events/stored-event';
import type { RetentionSteps } from '../engine';
import type { Outcome } from './attempt';
import type { JetStreamConnection } from './connection';
import type { JetStreamReader } from './reader';
import type { StreamNames } from './schema';
import type { JetStreamStore, StreamState } from './store';

/** Most events, and most notes of late events, that one step looks at. */
const STEP = 256;

/** Keys are removed when so many milliseconds of them are past their extra age, not one by one. */
const KEYS_STEP = 60_000;

/** An event is late if it was recorded so long before it was stored, in milliseconds; an imported one, for example. */
const LATE = 60_000;

/** Positions among which late events are. */
export interface LateRange {
  readonly first: number;
  readonly last: number;
  /** When the oldest of these events was recorded, in milliseconds since 1970. */
  readonly oldest: number;
}

/** A range of late events, and how far the walk over it has come. */
interface Walk extends LateRange {
  readonly position: number;
  /** When the oldest event was recorded of those that the walk has left, in milliseconds since 1970. */
  readonly left: number;
}

/**
 * Forgets what the servers do not. They forget events by their number, and by their age since they were stored. Left to
 * every instance are events that were recorded long before they were stored, and the keys of forgotten events. Instances
 * need not agree: what one has removed, another finds gone.
 */
export class JetStreamRetention implements RetentionSteps {
  readonly busyPause = 50;
  readonly idlePause = 1000;
  readonly #connection: JetStreamConnection;
  readonly #names: StreamNames;
  readonly #store: JetStreamStore;
  readonly #reader: JetStreamReader;
  readonly #maxAge: number;
  readonly #keysExtraAge: number;
  #walks: Walk[] = [];
  /** The position in the stream of keys up to which notes of late events are read. */
  #noted = 0;

  /**
   * @param maxAge - how long an event is kept after it was recorded, in milliseconds; undefined: without a limit.
   * @param keysExtraAge - how long a key is kept after its event was forgotten, at least, in milliseconds.
   */
  constructor(
    connection: JetStreamConnection,
    names: StreamNames,
    store: JetStreamStore,
    reader: JetStreamReader,
    maxAge: number | undefined,
    keysExtraAge: number,
  ) {
    this.#connection = connection;
    this.#names = names;
    this.#store = store;
    this.#reader = reader;
    this.#maxAge = maxAge ?? Infinity;
    this.#keysExtraAge = keysExtraAge;
  }

  /** As `RetentionSteps.step`. */
  async step(): Promise<boolean> {
    const deadline = this.#connection.deadline();
    const { events, keys } = this.#names;
    const [eventsState, keysState] = await Promise.all([
      this.#store.state(events, deadline),
      this.#store.state(keys, deadline),
    ]);
    await this.#forgetKeys(eventsState, keysState, deadline);
    return this.#maxAge !== Infinity && (await this.#forgetLate(keysState, deadline));
  }

  /**
   * Removes the keys that were stored long before the oldest event. The key of an event is stored before it and the
   * reference after it, within the time that a call takes, and the last of them keeps the key.
   */
  async #forgetKeys(
    { firstTime: oldestEvent }: StreamState,
    { firstTime: oldestKey }: StreamState,
    deadline: number,
  ): Promise<void> {
    if (oldestEvent === undefined || oldestKey === undefined) return;
    const horizon = oldestEvent - this.#keysExtraAge;
    if (oldestKey >= horizon - Math.min(KEYS_STEP, this.#keysExtraAge)) return;
    const { keys } = this.#names;
    const from = await this.#store.firstStoredSince(keys, horizon, deadline);
    await this.#store.removeBefore(keys, from, deadline);
  }

  async #forgetLate({ last }: StreamState, deadline: number): Promise<boolean> {
    const unread = await this.#readNotes(last, deadline);
    const horizon = Date.now() - this.#maxAge;
    const due = this.#walks.findIndex(({ oldest }) => oldest < horizon);
    const walk = this.#walks[due];
    if (walk === undefined) return unread;
    const walked = await this.#walk(walk, horizon, deadline);
    this.#walks = this.#walks.with(due, walked).filter(({ oldest }) => oldest !== Infinity);
    return true;
  }

  /** Reads notes that are new, all of them at least up to a position. Returns whether there are more. */
  async #readNotes(last: number, deadline: number): Promise<boolean> {
    const { keys } = this.#names;
    for (let read = 0; read < STEP; read++) {
      const note = await this.#store.next(keys, this.#noted + 1, deadline, lateSubject(keys));
      if (note === undefined) {
        this.#noted = Math.max(this.#noted, last);
        return false;
      }
      this.#noted = note.seq;
      const range = decodeRange(note.data);
      if (range !== undefined) this.#walks.push({ ...range, position: range.first, left: Infinity });
    }
    return true;
  }

  /** Walks on over a range and removes what is past the horizon. */
  async #walk(walk: Walk, horizon: number, deadline: number): Promise<Walk> {
    const { first, last } = walk;
    let { position, left } = walk;
    const next = await this.#store.next(this.#names.events, position, deadline);
    if (next === undefined || next.seq > last) return { first, last, oldest: left, position: first, left: Infinity };
    position = next.seq;
    const most = Math.min(STEP, last - position + 1);
    const old: number[] = [];
    let found = 0;
    for await (const { sequence, event } of this.#reader.upwards(position - 1, most, deadline)) {
      found++;
      position = sequence + 1;
      if (sequence > last) break;
      if (event.recordedAt < horizon) old.push(sequence);
      else left = Math.min(left, event.recordedAt);
    }
    await Promise.all(old.map((sequence) => this.#store.remove(this.#names.events, sequence, deadline)));
    if (found === most && position <= last) return { ...walk, position, left };
    return { first, last, oldest: left, position: first, left: Infinity };
  }
}

/** The subject in the stream of keys on which the ranges of late events are stored. */
export function lateSubject(keys: string): string {
  return `${keys}.late`;
}

/** The range of the late events among those that were just recorded. Undefined: none of them is late. */
export function lateRange(events: readonly NewEvent[], outcomes: readonly Outcome[]): LateRange | undefined {
  const horizon = Date.now() - LATE;
  let range: LateRange | undefined;
  for (const [i, { recordedAt }] of events.entries()) {
    const outcome = outcomes[i];
    if (outcome?.recorded !== true || recordedAt >= horizon) continue;
    const { first = Infinity, last = 0, oldest = Infinity } = range ?? {};
    range = {
      first: Math.min(first, outcome.sequence),
      last: Math.max(last, outcome.sequence),
      oldest: Math.min(oldest, recordedAt),
    };
  }
  return range;
}

export function encodeRange({ first, last, oldest }: LateRange): Buffer {
  return Buffer.from(JSON.stringify({ first, last, oldest }));
}

/** Reads what {@link encodeRange} writes. Undefined: another program wrote it. */
export function decodeRange(body: Uint8Array): LateRange | undefined {
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
    const { first, last, oldest } = JSON.parse(text) as Record<keyof LateRange, unknown>;
    if (typeof first === 'number' && typeof last === 'number' && typeof oldest === 'number') {
      return { first, last, oldest };
    }
  } catch {
    // Not JSON either.
  }
  return undefined;
}
