import type { EventLog, EventQuery, LoggedEvent } from '../log/event-log';

/** Reads the newest events, or those with an id or at a position, at most `limit`, oldest first. */
export function readEvents(
  log: EventLog,
  { id, sequence, limit }: Pick<EventQuery, 'limit'> & Partial<Pick<EventQuery, 'id' | 'sequence'>>,
): Promise<LoggedEvent[]> {
  return log.read({ id, sequence, limit, after: undefined, maxBytes: Infinity, referenceBytes: 0 });
}
