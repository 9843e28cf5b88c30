import { once } from 'node:events';
import type { EventLog } from '../log/event-log';
import { followedPages } from './follow';
import { pagesOf, pageText } from './pages';
import type { Start } from './since';
import { stopSignal } from './stop-signal';

/** Prints the events from a start on; `follow`: also those recorded from now on. SIGINT or SIGTERM ends it. */
export async function printEvents(log: EventLog, start: Start, follow: boolean): Promise<void> {
  const stop = stopSignal();
  for await (const page of follow ? followedPages(log, start, stop) : pagesOf(log, start)) {
    if (!process.stdout.write(pageText(page))) await once(process.stdout, 'drain');
    if (stop.aborted) return;
  }
}
