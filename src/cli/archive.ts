import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type NewEvent, sequenceOf, StoredEvent } from '../events/stored-event';
import { ArchiveLine } from '../events/archive-line';
import { EventFactory } from '../events/event';
import type { EventLog } from '../log/event-log';
import type { LogChange, ReadableLog } from '../log/readable-log';
import { writeNewFile } from '../util/files';
import { oneLine, replaceInvisible } from '../util/text';
import type { Values } from './events-options';
import { matcherOf, positionBefore } from './tool-log';
import { counted, eventLine, fileError, linesOf, print } from './terminal';

/** Prints the events from a start on, by default all, or says that there are none. @throws the signal came before the end. */
export async function printEvents(log: ReadableLog, values: Values, stop: AbortSignal): Promise<void> {
  const { printed, read } = await printPages(log.pages(values.since ?? { after: 0 }), values, stop);
  if (printed === 0)
    console.error(read === 0 ? 'There are no events.' : `None of ${counted(read, 'event')} was printed.`);
}

/** Prints the events from a start on, by default the end, until the signal. Says what it waits for, and how many it printed. */
export async function followEvents(log: ReadableLog, values: Values, stop: AbortSignal): Promise<void> {
  const after = await positionBefore(log, values.since);
  console.error(`Waiting for events after ${String(after)}.`);
  const counts = { printed: 0, read: 0 };
  try {
    await printPages(log.follow({ after }, stop, sayChange), values, stop, counts);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    console.error(`${counted(counts.printed, 'event')} printed.`);
  }
}

async function printPages(
  pages: AsyncIterable<readonly StoredEvent[]>,
  values: Values,
  stop: AbortSignal,
  counts = { printed: 0, read: 0 },
) {
  const lineOf = process.stdout.isTTY && values.json !== true ? eventLine : jsonLine();
  const isChosen = matcherOf(values);
  for await (const page of pages) {
    const chosen = page.filter((event) => isChosen(event) && isWhole(event));
    await print(pageText(chosen, lineOf), stop);
    counts.printed += chosen.length;
    counts.read += page.length;
  }
  return counts;
}

/** On a terminal, what is not visible is escaped, and white space between tokens becomes spaces. */
function jsonLine(): (event: StoredEvent) => string {
  if (!process.stdout.isTTY) return ArchiveLine.of;
  return (event) => replaceInvisible(ArchiveLine.of(event).replace(/[\t\r]/g, ' '));
}

function pageText(page: readonly StoredEvent[], lineOf: (event: StoredEvent) => string): string {
  return page.map((event) => `${lineOf(event)}\n`).join('');
}

/** Goes on in a log that was restored or replaced: after the position, or after the newest event if the log ends before it. */
function sayChange(change: LogChange, position: number, newest: number): number {
  const after = change === 'ends before' ? newest : position;
  console.error(`The log was replaced after event ${String(position)}. Going on after event ${String(after)}.`);
  return after;
}

/**
 * Writes the events from a start on, by default all, to a new file, which gets its name once it is whole and on disk, or to standard
 * output (`-`). Leaves out events that are damaged, reports each, and resolves to whether there were none.
 *
 * @throws the file exists or cannot be written, or the signal came before the end.
 */
export async function exportEvents(file: string, log: ReadableLog, values: Values, stop: AbortSignal) {
  let [events, damaged] = [0, 0];
  const lineOf = file === '-' ? jsonLine() : ArchiveLine.of;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const page of log.pages(values.since ?? { after: 0 })) {
      const whole = page.filter(isWhole);
      yield pageText(whole, lineOf);
      damaged += page.length - whole.length;
      events += whole.length;
    }
  };
  try {
    if (file === '-') for await (const text of lines()) await print(text, stop);
    else
      await writeNewFile(file, (temporary) =>
        pipeline(lines, createWriteStream(temporary, { flags: 'wx' }), { signal: stop }),
      );
  } catch (error) {
    if (stop.aborted) throw stop.reason;
    throw fileError(file, 'written', error);
  }
  console.error(`${counted(events, 'event')} exported.`);
  return damaged === 0;
}

/** Whether an event can be read; reports one that the disk has damaged. */
function isWhole(event: StoredEvent): boolean {
  const problem = StoredEvent.problemOf(event);
  if (problem !== undefined) console.error(`Event ${sequenceOf(event.position)} is left out: ${problem}.`);
  return problem === undefined;
}

/** Most events, and most bytes of their lines, that are imported at a time; they share commits. */
const BATCH_EVENTS = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;

/** Opens a file, or standard input for `-`. */
export async function openInput(file: string): Promise<Readable> {
  if (file === '-') return process.stdin;
  const stream = createReadStream(file);
  // A folder can be opened, but not read.
  await once(stream, 'readable').catch((error: unknown) => {
    throw fileError(file, 'read', error);
  });
  return stream;
}

/**
 * Records the events of a file that are not in the log yet. Leaves out those whose `Idempotency-Key` another event has, reports
 * each, and resolves to whether there were none. Says at its end how many were recorded, however it ends.
 *
 * @throws a line cannot be imported; the events of the lines before it are recorded.
 */
export async function importEvents(file: string, stream: Readable, log: Pick<EventLog, 'append'>): Promise<boolean> {
  let [recorded, known, leftOut] = [0, 0, 0];
  try {
    for await (const events of batchesIn(file, stream)) {
      for (let left = events; left.length > 0;) {
        const appended = await log.append(...left).catch((cause: unknown) => {
          throw new Error('The import stopped; run it again to go on', { cause });
        });
        // As a call would record them.
        const again: NewEvent[] = [];
        for (const [i, { id, recorded: isNew, conflict }] of appended.entries()) {
          const event = left[i] as NewEvent;
          const next = conflict && EventFactory.withOwnKey(event, conflict);
          if (isNew) recorded++;
          else if (next === undefined || next === 'known') known++;
          else if (next !== 'reused') again.push(next);
          else {
            leftOut++;
            const problem = `${oneLine(id)} has its Idempotency-Key, with another type or other data`;
            console.error(`Event ${oneLine(event.id)} is left out: ${problem}.`);
          }
        }
        left = again;
      }
    }
  } finally {
    console.error(`${String(recorded)} recorded, ${String(known)} already in the log.`);
  }
  return leftOut === 0;
}

/** Reads the events of a file; those before a line that cannot be read are yielded before the error that names it. */
async function* batchesIn(file: string, stream: Readable): AsyncGenerator<readonly NewEvent[]> {
  const decoder = new TextDecoder();
  let events: NewEvent[] = [];
  let [bytes, number] = [0, 1];
  try {
    for await (const lines of linesOf(stream))
      for (const line of lines) {
        if (!isUtf8(line)) throw new Error('It is not UTF-8.');
        const text = decoder.decode(line);
        // An empty line has no event.
        if (text.trim() !== '') events.push(ArchiveLine.read(text).event);
        bytes += line.length;
        number++;
        if (events.length < BATCH_EVENTS && bytes <= BATCH_BYTES) continue;
        yield events;
        events = [];
        bytes = 0;
      }
  } catch (cause) {
    yield events;
    throw new Error(`Line ${String(number)} of ${file} cannot be imported`, { cause });
  }
  yield events;
}
