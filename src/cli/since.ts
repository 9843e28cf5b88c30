import type { EventLog } from '../log/event-log';
import { parseDuration } from '../util/duration';
import { parseTime } from '../util/rfc3339';
import { readEvents } from './read';

/** Which events are printed or exported. */
export interface Start {
  /** Events after this position. */
  readonly after: bigint;
  /** Events recorded at this time or later, in milliseconds since 1970-01-01T00:00Z; undefined: at any time. */
  readonly since?: number | undefined;
}

/** All events of a log. */
export const FROM_THE_FIRST: Start = { after: 0n };

/** A day stands for its first moment in UTC. */
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Reads the value of `--since`: a sequence, a duration up to now, a time (RFC 3339) or a day. Undefined: none of these. */
export function parseSince(text: string): Start | undefined {
  if (/^\d{1,20}$/.test(text)) return { after: BigInt(text) };
  const duration = parseDuration(text);
  const since = duration === undefined ? parseTime(DAY.test(text) ? `${text}T00:00:00Z` : text) : Date.now() - duration;
  return since === undefined ? undefined : { after: 0n, since };
}

/** The start of the events that are yet to be recorded. */
export async function endOf(log: EventLog): Promise<Start> {
  const [event] = await readEvents(log, { limit: 1 });
  return { after: BigInt(event?.sequence ?? 0) };
}
