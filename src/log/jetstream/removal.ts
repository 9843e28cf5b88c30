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
 * Returns how the keys of forgotten events are forgotten; the servers forget the events. Every instance does it, and they need not
 * agree: what one has removed, another finds gone. A key is stored within a call's time of its event, and so goes if it was
 * stored long before the oldest event.
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
      const [{ firstTime: oldestEvent }, { firstTime: oldestKey }] = await Promise.all([events.state(), keys.state()]);
      if (oldestEvent === undefined || oldestKey === undefined) return false;
      const horizon = oldestEvent - keysExtraAge;
      if (oldestKey < horizon - Math.min(KEYS_STEP, keysExtraAge))
        await keys.removeBefore(await keys.firstStoredSince(horizon));
      return false;
    },
  };
}
