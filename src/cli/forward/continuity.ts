import type { EventLog } from '../../log/event-log';
import { firstFrom } from '../../log/stored-events';
import { changeAt, type Change } from '../scan';
import type { Position } from './position';

/** Thrown when a position cannot be one of this log; the message is one line. */
class OtherLogError extends Error {
  override readonly name = 'OtherLogError';

  constructor(problem: string) {
    super(`${problem} Set EVENT_LOG to the log that was forwarded, or choose another --position or --since.`);
  }
}

/**
 * Refuses to go on after a position in a log that is another one than before.
 *
 * @throws {OtherLogError} the event at the position is another one than before, or the log never reached it.
 */
export async function requireSame(log: EventLog, { sequence, event }: Position): Promise<void> {
  const change = await changeAt(log, sequence, event);
  if (change !== undefined) throw otherLog(change, sequence);
}

export function otherLog(change: Change, sequence: bigint): OtherLogError {
  return new OtherLogError(
    change === 'another event'
      ? `Event ${String(sequence)} of this event log is not the one that was forwarded.`
      : `This event log ends before event ${String(sequence)}, after which forwarding was to go on.`,
  );
}

/**
 * Says which positions between the one that was forwarded last and the next event retention has taken. It takes the lowest
 * first: holes above the oldest event are those of repetitions, or of events that were removed on purpose.
 */
export async function missingBetween(log: EventLog, sequence: bigint, next: bigint): Promise<string | undefined> {
  if (next === sequence + 1n) return undefined;
  const found = await firstFrom(log, 0n);
  const oldest = found === undefined ? next : BigInt(found.sequence);
  if (oldest <= sequence + 1n) return undefined;
  const end = oldest < next ? oldest : next;
  const [first, last] = [String(sequence + 1n), String(end - 1n)];
  return first === last
    ? `The log no longer has event ${first} (retention): it was not forwarded.`
    : `The log no longer has the events ${first} to ${last} (retention): they were not forwarded.`;
}
