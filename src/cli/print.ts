import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { EventLog } from '../events/event-log';
import { pagesOf, pageText } from './pages';
import type { Start } from './since';
import { stopSignal } from './stop-signal';

/** How often a log that is followed is looked at, in milliseconds. */
const POLL_INTERVAL = 200;

/** Prints the events from a start on; `follow`: also those recorded from now on, until SIGINT or SIGTERM. */
export async function printEvents(log: EventLog, start: Start, follow: boolean): Promise<void> {
  const stop = stopSignal();
  let { after } = start;
  while (!stop.aborted) {
    for await (const page of pagesOf(log, { ...start, after })) {
      if (!process.stdout.write(pageText(page))) await once(process.stdout, 'drain');
      after = BigInt(page.at(-1)?.sequence ?? after);
    }
    if (!follow) return;
    await setTimeout(POLL_INTERVAL, undefined, { signal: stop }).catch(() => undefined);
  }
}
