import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { archiveProblem } from '../events/archive';
import type { StoredEvent } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import { writeNewFile } from '../util/files';
import { progressBar } from './progress';
import { followedPages, pagesOf, pageText, type Change, type Start } from './scan';
import { fileError, stopSignal } from './terminal';

/** Prints the events from a start on, and with `follow` also those recorded later, until SIGINT or SIGTERM. */
export async function printEvents(log: EventLog, start: Start, follow: boolean): Promise<void> {
  const stop = stopSignal();
  for await (const page of follow ? followedPages(log, start, stop, sayChange) : pagesOf(log, start)) {
    if (!process.stdout.write(pageText(page))) await once(process.stdout, 'drain');
    if (stop.aborted) return;
  }
}

/** Goes on in a log that was restored or replaced: after its newest event, or after the position if it stands there too. */
function sayChange(change: Change, position: bigint, newest: bigint): bigint {
  const after = change === 'ends before' ? newest : position;
  console.error(
    `The log was restored or replaced after event ${String(position)}. Going on after event ${String(after)}.`,
  );
  return after;
}

/**
 * Writes the events from a start on to a new file, which gets its name once it is complete and on disk, or to standard output
 * where the file is `-`. Leaves out events that are damaged, reports each, and resolves to whether there were none.
 *
 * @throws the file exists or cannot be written, or SIGINT or SIGTERM came before the end.
 */
export async function exportEvents(file: string, log: EventLog, start: Start): Promise<boolean> {
  let events = 0;
  let damaged = 0;
  const progress = progressBar('exported', (await log.stats()).events);
  const lines = async function* (): AsyncGenerator<string> {
    for await (const page of pagesOf(log, start)) {
      const whole = page.filter(isWhole);
      yield pageText(whole);
      damaged += page.length - whole.length;
      events += whole.length;
      progress?.update(events);
    }
  };
  const signal = stopSignal();
  try {
    if (file === '-') await pipeline(lines, process.stdout, { end: false, signal });
    else
      await writeNewFile(file, (temporary) =>
        pipeline(lines, createWriteStream(temporary, { flags: 'wx' }), { signal }),
      );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw file === '-' ? error : fileError(file, 'written', error);
  } finally {
    progress?.stop();
  }
  console.error(`${String(events)} events exported.`);
  return damaged === 0;
}

/** Returns true for an event that can be read again, and reports one that cannot. */
function isWhole(event: StoredEvent): boolean {
  const problem = archiveProblem(event);
  if (problem !== undefined) console.error(`Event ${event.sequence} is left out: ${problem}.`);
  return problem === undefined;
}
