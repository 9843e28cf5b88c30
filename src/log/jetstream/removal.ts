import type { NewEvent } from '../../events/stored-event';
import type { RetentionSteps } from '../engine';
import { decodeEvent, decodeReference, keysOf, keySubject } from './message';
import type { BeginCall, LogStreams, Message } from './stream';
import { StreamWalk } from './walk';

/** Removes events as `EventLog.forget` does, so that the files of the servers do not hold them any more. */
export async function forgetEvents(begin: BeginCall, positions: readonly number[]): Promise<number[]> {
  const forgotten: number[] = [];
  for (const position of positions) {
    const streams = begin();
    const placed = await new StreamWalk(streams.events).at(position);
    if (placed !== undefined) {
      // The event goes last: while it is there, the rest can be found again after a failure.
      await eraseKeys(streams, placed.event);
      await streams.events.erase(placed.sequence);
      forgotten.push(position);
    }
  }
  return forgotten;
}

/** Erases the claims of the event's keys, which hold copies of it, and the references to it: another event may then claim them. */
async function eraseKeys({ keys }: LogStreams, event: NewEvent): Promise<void> {
  const isOfEvent = ({ data }: Message) => (decodeReference(data) ?? decodeEvent(data)?.event)?.id === event.id;
  for (const key of keysOf(event)) {
    const subject = keySubject(keys, key);
    for (
      let found = await keys.next(1, subject);
      found !== undefined;
      found = await keys.next(found.seq + 1, subject)
    ) {
      if (isOfEvent(found)) await keys.erase(found.seq);
    }
  }
}

/** Keys are removed when this many milliseconds of them are past their extra age, not one by one. */
const KEYS_STEP = 60_000;

/**
 * Forgets the keys of forgotten events; the servers forget the events. Every instance does it, and they need not agree: what one has
 * removed, another finds gone.
 */
export class JetStreamRetention implements RetentionSteps {
  readonly busyPause = 50;
  readonly idlePause = 1000;
  readonly isFixed = true;
  readonly #begin: BeginCall;
  readonly #keysExtraAge: number;

  /** @param keysExtraAge - how long a key is kept after its event was forgotten, at least, in milliseconds. */
  constructor(begin: BeginCall, keysExtraAge: number) {
    this.#begin = begin;
    this.#keysExtraAge = keysExtraAge;
  }

  /**
   * Removes the keys that were stored long before the oldest event. The key of an event is stored before it and the
   * reference after it, within the time that a call takes, and the last of them keeps the key.
   */
  async step(): Promise<boolean> {
    const { events, keys } = this.#begin();
    const [{ firstTime: oldestEvent }, { firstTime: oldestKey }] = await Promise.all([events.state(), keys.state()]);
    if (oldestEvent === undefined || oldestKey === undefined) return false;
    const horizon = oldestEvent - this.#keysExtraAge;
    if (oldestKey < horizon - Math.min(KEYS_STEP, this.#keysExtraAge))
      await keys.removeBefore(await keys.firstStoredSince(horizon));
    return false;
  }
}
