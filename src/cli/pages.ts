import { archiveLine } from '../events/archive';
import type { EventLog, StoredEvent } from '../log/event-log';
import type { Start } from './since';

/** Most events that are read at a time. */
const PAGE_EVENTS = 1000;

/** Reads all events from a start on, page by page; none of the pages is empty. */
export async function* pagesOf(log: EventLog, { after, since }: Start): AsyncGenerator<readonly StoredEvent[]> {
  let page = await log.scan({ after, since, limit: PAGE_EVENTS });
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    yield page;
    page = await log.scan({ after: BigInt(last.sequence), since, limit: PAGE_EVENTS });
  }
}

/** Writes the events of a page, each on a line of its own. */
export function pageText(page: readonly StoredEvent[]): string {
  return page.map((event) => `${archiveLine(event)}\n`).join('');
}
