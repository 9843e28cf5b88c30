import type { NewEvent } from '../../events/stored-event';
import type { RetentionSteps } from '../engine';
import { decodeEvent, decodeReference, keysOf, keySubject } from './message';
import type { BeginCall, LogStreams } from './stream';
import { StreamWalk } from './walk';

/** As `EventLog.forget`. */
export async function forgetEvents(begin: BeginCall, positions: readonly number[]): Promise<number[]> {
  const forgotten: number[] = [];
  for (const position of positions) {
    const streams = begin();
    const event = await new StreamWalk(streams.events).at(position);
    if (event === undefined) continue;
    // The event goes last: while it is there, the rest can be found again after a failure.
    await eraseKeys(streams, event);
    await streams.events.erase(position);
    forgotten.push(position);
  }
  return forgotten;
}

/** Erases the claims of the event's keys, which hold copies of it, and the references to it. */
async function eraseKeys({ keys }: LogStreams, event: NewEvent): Promise<void> {
  for (const key of keysOf(event)) {
    const subject = keySubject(keys, key);
    for (let from = 1, found; (found = await keys.next(from, subject)) !== undefined; from = found.seq + 1) {
      const { id } = decodeReference(found.data) ?? decodeEvent(found.data)?.event ?? {};
      if (id === event.id) await keys.erase(found.seq);
    }
  }
}

/** Keys are removed when this many milliseconds of them are past their extra age, not one by one. */
const KEYS_STEP = 60_000;

/**
 * Returns how the keys of forgotten events are forgotten: those that were stored long before the oldest event. Every instance does it.
 *
 * @param keysExtraAge - how long a key is kept after its event was forgotten, at least, in milliseconds.
 */
export function retentionOfKeys(begin: BeginCall, keysExtraAge: number): RetentionSteps {
  return {
    busyPause: 50,
    idlePause: 1000,
    isFixed: true,
    async step() {
      const { events, keys } = begin();
      const [ofEvents, ofKeys] = await Promise.all([events.state(), keys.state()]);
      if (ofEvents.messages === 0 || ofKeys.messages === 0) return false;
      const horizon = Date.parse(ofEvents.first_ts) - keysExtraAge;
      if (Date.parse(ofKeys.first_ts) < horizon - Math.min(KEYS_STEP, keysExtraAge))
        await keys.removeBefore((await keys.storedSince(horizon)).first);
      return false;
    },
  };
}
