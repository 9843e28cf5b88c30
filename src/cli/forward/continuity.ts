import type { StoredEvent } from '../../events/stored-event';
import type { EventLog } from '../../log/event-log';
import { endOf } from '../scan';
import type { Position } from './position';

/** Thrown when a position cannot be one of this log; the message is one line. */
export class OtherLogError extends Error {
  override readonly name = 'OtherLogError';

  constructor(problem: string) {
    super(`${problem} Set EVENT_LOG to the log that was forwarded, or choose another --position or --since.`);
  }
}

/**
 * Finds where a scan has to begin to go on after a position.
 *
 * @throws {OtherLogError} the event at the position is another one than before, or the log ends before it.
 */
export async function scanStart(log: EventLog, { sequence, event }: Position): Promise<bigint> {
  const found = await firstFrom(log, sequence);
  if (found === undefined) {
    // A log that has forgotten all its events looks like a new one: the next event tells.
    if ((await endOf(log)).after === 0n) return 0n;
    throw endsBefore(sequence);
  }
  if (event !== undefined && BigInt(found.sequence) === sequence) {
    const isSame = found.id === event.id && found.recordedAt === event.recordedAt;
    if (!isSame)
      throw new OtherLogError(`Event ${String(sequence)} of this event log is not the one that was forwarded.`);
  }
  return sequence;
}

/** The event at a position, as a {@link Position} keeps it; undefined: the log does not have it. */
export async function eventAt(log: EventLog, sequence: bigint): Promise<StoredEvent | undefined> {
  const found = await firstFrom(log, sequence);
  return found !== undefined && BigInt(found.sequence) === sequence ? found : undefined;
}

/**
 * Looks whether the log still had everything between a position and the next event that it gave.
 *
 * @returns what is missing; undefined: nothing is.
 * @throws {OtherLogError} the event stands before the position: it is a new log.
 */
export async function missingBetween(log: EventLog, sequence: bigint, next: bigint): Promise<string | undefined> {
  if (next <= sequence) throw endsBefore(sequence);
  if (next === sequence + 1n) return undefined;
  const found = await firstFrom(log, sequence);
  const oldest = found === undefined ? next : BigInt(found.sequence);
  // Events that are not `since` a time may stand in between.
  const end = oldest < next ? oldest : next;
  if (end <= sequence + 1n) return undefined;
  const [first, last] = [String(sequence + 1n), String(end - 1n)];
  return first === last
    ? `The log no longer has event ${first} (retention): it was not forwarded.`
    : `The log no longer has the events ${first} to ${last} (retention): they were not forwarded.`;
}

function endsBefore(sequence: bigint): OtherLogError {
  return new OtherLogError(
    `This event log ends before event ${String(sequence)}, after which forwarding was to go on.`,
  );
}

/** The first event from a position on. */
async function firstFrom(log: EventLog, sequence: bigint): Promise<StoredEvent | undefined> {
  const [event] = await log.scan({ after: sequence > 0n ? sequence - 1n : 0n, limit: 1 });
  return event;
}
