import { setTimeout } from 'node:timers/promises';
import type { EventLog, StoredEvent } from '../events/event-log';
import { pagesOf } from './pages';
import type { Start } from './since';

/** How often a log that is followed is looked at, in milliseconds. */
const POLL_INTERVAL = 200;

/** Reads the events from a start on, page by page, and then those that are recorded, until the signal. No page is empty. */
export async function* followedPages(
  log: EventLog,
  start: Start,
  stop: AbortSignal,
): AsyncGenerator<readonly StoredEvent[]> {
  let { after } = start;
  while (!stop.aborted) {
    for await (const page of pagesOf(log, { ...start, after })) {
      yield page;
      after = BigInt(page.at(-1)?.sequence ?? after);
    }
    await setTimeout(POLL_INTERVAL, undefined, { signal: stop }).catch(() => undefined);
  }
}
