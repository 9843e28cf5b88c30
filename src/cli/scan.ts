import { archiveLine } from '../events/archive';
import type { StoredEvent } from '../events/stored-event';
import type { EventLog, EventQuery, LoggedEvent } from '../log/event-log';
import { EventWaiters } from '../service/event-waiters';
import { parseDuration, parseTime } from '../util/time';

/** Where a scan of the log begins. */
export interface Start {
  /** Events after this position. */
  readonly after: bigint;
  /** Events recorded at this time or later, in milliseconds since 1970-01-01T00:00Z. */
  readonly since?: number | undefined;
}

/** All events of a log. */
export const FROM_THE_FIRST: Start = { after: 0n };

/** A day stands for its first moment in UTC. */
const DAY = /^\d{4}-\d\d-\d\d$/;

/** The most events that are read at a time. */
const PAGE_EVENTS = 1000;

/** How long to wait for a commit before looking again without one, in milliseconds. */
const WAIT = 60_000;

/** Reads the value of `--since`: a sequence, a duration up to now, a time (RFC 3339) or a day. */
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

/** Reads the newest events, or those with an id or at a position, at most `limit`, oldest first. */
export function readEvents(
  log: EventLog,
  { id, sequence, limit }: Pick<EventQuery, 'limit'> & Partial<Pick<EventQuery, 'id' | 'sequence'>>,
): Promise<LoggedEvent[]> {
  return log.read({ id, sequence, limit, after: undefined, maxBytes: Infinity, referenceBytes: 0 });
}

/** Reads all events from a start on, in pages that are never empty. */
export async function* pagesOf(log: EventLog, { after, since }: Start): AsyncGenerator<readonly StoredEvent[]> {
  let page = await log.scan({ after, since, limit: PAGE_EVENTS });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = await log.scan({ after: BigInt(last.sequence), since, limit: PAGE_EVENTS });
  }
}

/** Reads as {@link pagesOf} does, and then events as they are recorded, until the signal. */
export async function* followedPages(
  log: EventLog,
  start: Start,
  stop: AbortSignal,
): AsyncGenerator<readonly StoredEvent[]> {
  const waiters = new EventWaiters(log);
  let { after } = start;
  let seen = after;
  while (!stop.aborted) {
    for await (const page of pagesOf(log, { ...start, after })) {
      yield page;
      after = BigInt(page.at(-1)?.sequence ?? after);
    }
    seen = (await waiters.wait(after > seen ? after : seen, WAIT, stop)) ?? seen;
  }
}

/** Writes the events of a page, one a line. */
export function pageText(page: readonly StoredEvent[]): string {
  return page.map((event) => `${archiveLine(event)}\n`).join('');
}
