import type { EventLog, StoredEvent } from '../log/event-log';
import { EventWaiters } from '../service/event-waiters';
import { pagesOf } from './pages';
import type { Start } from './since';

/** How long it waits for the next event before it looks without having been told of one, in milliseconds. */
const WAIT = 60_000;

/** Reads the events from a start on, page by page, and then those that are recorded, until the signal. No page is empty. */
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
