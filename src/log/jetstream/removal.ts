import type { NewEvent } from '../../events/stored-event';
import type { RetentionSteps } from '../engine';
import type { Progress } from '../event-log';
import { decodeEvent, decodeRange, decodeReference, keysOf, keySubject, lateSubject, type LateRange } from './message';
import type { BeginCall, LogStreams, Message, Stream, StreamState } from './stream';
import { StreamWalk } from './walk';

/** Removes events as `EventLog.forget` does, so that the files of the servers do not hold them any more. */
export async function forgetEvents(
  begin: BeginCall,
  positions: readonly number[],
  progress: Progress,
): Promise<number[]> {
  const forgotten: number[] = [];
  for (const [i, position] of positions.entries()) {
    const placed = await new StreamWalk(begin().events).at(position);
    if (placed !== undefined) {
      // The event goes last: while it is there, the rest can be found again after a failure.
      await eraseKeys(begin(), placed.event);
      await begin().events.erase(placed.sequence);
      forgotten.push(position);
    }
    progress(i + 1, positions.length);
  }
  return forgotten;
}

/**
 * Erases the claims of the event's keys, which hold copies of it, and the references to it. Once they are gone another event may
 * claim a key.
 */
async function eraseKeys({ keys }: LogStreams, event: NewEvent): Promise<void> {
  const isOfEvent = ({ data }: Message) => (decodeReference(data) ?? decodeEvent(data)?.event)?.id === event.id;
  for (const key of keysOf(event)) await keys.eraseAll(keySubject(keys, key), isOfEvent);
}

/** Maximum events, and maximum notes of late events, that one step looks at. */
const STEP = 256;

/** Keys are removed when this many milliseconds of them are past their extra age, not one by one. */
const KEYS_STEP = 60_000;

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
  readonly #begin: BeginCall;
  readonly #maxAge: number;
  readonly #keysExtraAge: number;
  #walks: Walk[] = [];
  /** The position in the stream of keys up to which notes of late events are read. */
  #noted = 0;

  /**
   * @param maxAge - how long an event is kept after it was recorded, in milliseconds.
   * @param keysExtraAge - how long a key is kept after its event was forgotten, at least, in milliseconds.
   */
  constructor(begin: BeginCall, maxAge = Infinity, keysExtraAge: number) {
    this.#begin = begin;
    this.#maxAge = maxAge;
    this.#keysExtraAge = keysExtraAge;
  }

  /** As `RetentionSteps.step`. */
  async step(): Promise<boolean> {
    const { events, keys } = this.#begin();
    const [eventsState, keysState] = await Promise.all([events.state(), keys.state()]);
    await this.#forgetKeys(keys, eventsState, keysState);
    return this.#maxAge !== Infinity && (await this.#forgetLate(events, keys, keysState));
  }

  /**
   * Removes the keys that were stored long before the oldest event. The key of an event is stored before it and the
   * reference after it, within the time that a call takes, and the last of them keeps the key.
   */
  async #forgetKeys(keys: Stream, { firstTime: oldestEvent }: StreamState, ofKeys: StreamState): Promise<void> {
    if (oldestEvent === undefined || ofKeys.firstTime === undefined) return;
    const horizon = oldestEvent - this.#keysExtraAge;
    if (ofKeys.firstTime >= horizon - Math.min(KEYS_STEP, this.#keysExtraAge)) return;
    await keys.removeBefore(await keys.firstStoredSince(horizon));
  }

  async #forgetLate(events: Stream, keys: Stream, { last }: StreamState): Promise<boolean> {
    const unread = await this.#readNotes(keys, last);
    const horizon = Date.now() - this.#maxAge;
    const due = this.#walks.findIndex(({ oldest }) => oldest < horizon);
    const walk = this.#walks[due];
    if (walk === undefined) return unread;
    const walked = await walkOn(events, walk, horizon);
    this.#walks = this.#walks.with(due, walked).filter(({ oldest }) => oldest !== Infinity);
    return true;
  }

  /** Reads notes that are new, all of them at least up to a position. Returns whether there are more. */
  async #readNotes(keys: Stream, last: number): Promise<boolean> {
    for (let read = 0; read < STEP; read++) {
      const note = await keys.next(this.#noted + 1, lateSubject(keys));
      if (note === undefined) {
        this.#noted = Math.max(this.#noted, last);
        return false;
      }
      this.#noted = note.seq;
      const range = decodeRange(note.data);
      if (range !== undefined) this.#walks.push(walkOver(range));
    }
    return true;
  }
}

function walkOver(range: LateRange): Walk {
  return { ...range, position: range.first, left: Infinity };
}

/** Walks on over a range and removes what was recorded before the horizon. */
async function walkOn(events: Stream, walk: Walk, horizon: number): Promise<Walk> {
  const { first, last } = walk;
  let { position, left } = walk;
  const most = Math.min(STEP, last - position + 1);
  const old: number[] = [];
  let found = 0;
  for await (const { sequence, event } of new StreamWalk(events).upwards(position - 1, most)) {
    if (sequence > last) break;
    found++;
    position = sequence + 1;
    if (event.recordedAt < horizon) old.push(sequence);
    else left = Math.min(left, event.recordedAt);
  }
  await Promise.all(old.map((sequence) => events.remove(sequence)));
  const isOver = found < most || position > last;
  return isOver ? walkOver({ first, last, oldest: left }) : { ...walk, position, left };
}
