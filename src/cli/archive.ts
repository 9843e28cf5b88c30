import { isUtf8 } from 'node:buffer';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type NewEvent, sequenceOf, StoredEvent } from '../events/stored-event';
import { ArchiveLine } from '../events/archive-line';
import type { EventLog } from '../log/event-log';
import type { Start } from '../log/queries';
import type { LogChange, ReadableLog } from '../log/readable-log';
import { writeNewFile } from '../util/files';
import type { Values } from './events-options';
import { matcherOf, positionBefore, type EventFilter } from './tool-log';
import { eventLine, eventsText, fileError, linesOf, print, printableJson, quoted } from './terminal';

/** Prints the events from a start on, by default all, or says that there are none. */
export async function printEvents(log: ReadableLog, form: Values, stop: AbortSignal): Promise<void> {
  const { printed, read } = await printPages(log.pages(form.since ?? { after: 0 }), form, stop);
  const conditions = conditionsOf(form);
  if (read === 0) console.error('There are no events.');
  else if (printed === 0 && conditions !== '')
    console.error(`None of the ${String(read)} events matches ${conditions}.`);
}

/** Prints the events from a start on, by default the end, until the signal. Says what it waits for, and how many it printed. */
export async function followEvents(log: ReadableLog, form: Values, stop: AbortSignal): Promise<void> {
  const after = await positionBefore(log, form.since);
  const conditions = conditionsOf(form);
  console.error(`Waiting for events after ${String(after)}${conditions && ` with ${conditions}`}.`);
  const counts = { printed: 0, read: 0 };
  try {
    await printPages(log.follow({ after }, stop, sayChange), form, stop, counts);
  } finally {
    console.error(`${eventsText(counts.printed)} printed.`);
  }
}

function conditionsOf({ header = [], type, binding, sender, fromSender, text }: EventFilter): string {
  const fields = header.map((field) => ['header', field.join('=')] as const);
  return [...Object.entries({ type, binding, sender, 'from-sender': fromSender, text }), ...fields]
    .flatMap(([name, value]) => (value === undefined ? [] : `--${name} ${quoted(value)}`))
    .join(' ');
}

async function printPages(
  pages: AsyncIterable<readonly StoredEvent[]>,
  form: Values,
  stop: AbortSignal,
  counts = { printed: 0, read: 0 },
) {
  const lineOf = process.stdout.isTTY && form.json !== true ? eventLine : jsonLine();
  const isChosen = matcherOf(form);
  try {
    for await (const page of pages) {
      const chosen = page.filter((event) => isChosen(event) && isWhole(event));
      await print(pageText(chosen, lineOf), stop);
      counts.printed += chosen.length;
      counts.read += page.length;
      if (stop.aborted) break;
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return counts;
}

function jsonLine(): (event: StoredEvent) => string {
  return process.stdout.isTTY ? (event) => printableJson(ArchiveLine.of(event)) : ArchiveLine.of;
}

function pageText(page: readonly StoredEvent[], lineOf: (event: StoredEvent) => string): string {
  return page.map((event) => `${lineOf(event)}\n`).join('');
}

/** Goes on in a log that was restored or replaced: after the position, or after the newest event if the log ends before it. */
function sayChange(change: LogChange, position: number, newest: number): number {
  const after = change === 'ends before' ? newest : position;
  console.error(
    `The log was restored or replaced after event ${String(position)}. Going on after event ${String(after)}.`,
  );
  return after;
}

/**
 * Writes the events from a start on, by default all, to a new file, which gets its name once it is whole and on disk, or to standard
 * output (`-`). Leaves out events that are damaged, reports each, and resolves to whether there were none.
 *
 * @throws the file exists or cannot be written, or the signal came before the end.
 */
export async function exportEvents(
  file: string,
  log: ReadableLog,
  start: Start | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  let [events, damaged] = [0, 0];
  const lineOf = file === '-' ? jsonLine() : ArchiveLine.of;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const page of log.pages(start ?? { after: 0 })) {
      const whole = page.filter(isWhole);
      yield pageText(whole, lineOf);
      damaged += page.length - whole.length;
      events += whole.length;
    }
  };
  try {
    if (file === '-') for await (const text of lines()) await print(text, signal);
    else
      await writeNewFile(file, (temporary) =>
        pipeline(lines, createWriteStream(temporary, { flags: 'wx' }), { signal }),
      );
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw fileError(file, 'written', error);
  }
  console.error(`${String(events)} events exported.`);
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
  try {
    const handle = await open(file);
    if (!(await handle.stat()).isDirectory()) return createReadStream(file, { fd: handle });
    await handle.close();
    throw Object.assign(new Error(), { code: 'EISDIR', syscall: 'open' });
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}

/**
 * Records the events of a file that are not in the log yet. Leaves out those whose `Idempotency-Key` another event has, reports
 * each, and resolves to whether there were none.
 *
 * @throws a line cannot be imported; the events of the lines before it are recorded.
 */
export async function importEvents(file: string, stream: Readable, log: Pick<EventLog, 'append'>): Promise<boolean> {
  const decoder = new TextDecoder();
  let [recorded, known, leftOut, bytes] = [0, 0, 0, 0];
  let events: NewEvent[] = [];
  const summary = () => `${String(recorded)} recorded, ${String(known)} already in the log.`;
  const record = async (): Promise<void> => {
    const appended = await log.append(...events).catch((cause: unknown) => {
      throw new Error(`The import stopped; run it again to go on. Before that: ${summary()}`, { cause });
    });
    for (const [i, each] of appended.entries()) {
      if (each.recorded) recorded++;
      else if (each.conflict === undefined) known++;
      else {
        leftOut++;
        const problem = `${quoted(each.id)} has its Idempotency-Key, with another type or other data`;
        console.error(`Event ${quoted(events[i]?.id ?? '')} is left out: ${problem}.`);
      }
    }
    events = [];
    bytes = 0;
  };
  const lines = linesOf(stream);
  for (let number = 1; ; number++) {
    try {
      const next = await lines.next();
      if (next.done === true) break;
      if (!isUtf8(next.value)) throw new Error('It is not UTF-8.');
      const text = decoder.decode(next.value);
      // An empty line has no event.
      if (text.trim() !== '') events.push(new ArchiveLine(text).event());
      bytes += next.value.length;
    } catch (error) {
      await record();
      const where = `Line ${String(number)} of ${file} cannot be imported.`;
      const stopped = new Error(`${where} Before it: ${summary()}`, { cause: fileError(file, 'read', error) });
      throw stopped;
    }
    if (events.length === BATCH_EVENTS || bytes > BATCH_BYTES) await record();
  }
  await record();
  console.error(summary());
  return leftOut === 0;
}
