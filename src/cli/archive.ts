import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sequenceOf } from '../events/position';
import { ArchiveLine } from '../events/archive-line';
import type { NewEvent, StoredEvent } from '../events/stored-event';
import type { EventLog } from '../log/event-log';
import type { Start } from '../log/log-reader';
import type { LogChange, ReadableLog } from '../log/readable-log';
import { writeNewFile } from '../util/files';
import { linesOf } from './lines';
import { matcherOf, positionBefore, type EventFilter } from './scan';
import { eventLine, fileError, print, printableJson, quoted } from './terminal';

/** How events are printed, and which. */
export interface PrintForm extends EventFilter {
  /** Each as one CloudEvent, on a terminal, too; by default {@link eventLine} writes them there. */
  readonly json: boolean;
}

/** Prints the events from a start on. */
export async function printEvents(log: ReadableLog, start: Start, form: PrintForm, stop: AbortSignal): Promise<void> {
  await printPages(log.pages(start), form, stop, () => undefined);
}

/** Prints the events from a start on, and those that are recorded until the signal. Says what it waits for, and how many it printed. */
export async function followEvents(log: ReadableLog, start: Start, form: PrintForm, stop: AbortSignal): Promise<void> {
  const after = await positionBefore(log, start);
  console.error(`Waiting for events after ${String(after)}${conditionsOf(form)}.`);
  let printed = 0;
  try {
    await printPages(log.follow({ after }, stop, sayChange), form, stop, (events) => (printed += events));
  } finally {
    console.error(`${String(printed)} ${printed === 1 ? 'event' : 'events'} printed.`);
  }
}

/** The options of a filter, as they are given. */
function conditionsOf({ headers, type, binding, sender, text }: EventFilter): string {
  const fields = headers.map((field) => ['header', field.join('=')] as const);
  const options = [...Object.entries({ type, binding, sender, text }), ...fields].flatMap(([name, value]) =>
    value === undefined ? [] : `--${name} ${quoted(value)}`,
  );
  return options.length === 0 ? '' : ` with ${options.join(' ')}`;
}

async function printPages(
  pages: AsyncIterable<readonly StoredEvent[]>,
  { json, ...filter }: PrintForm,
  stop: AbortSignal,
  printed: (events: number) => void,
): Promise<void> {
  const lineOf = process.stdout.isTTY && !json ? eventLine : jsonLine();
  const isChosen = matcherOf(filter);
  try {
    for await (const page of pages) {
      const chosen = page.filter((event) => isChosen(event) && isWhole(event));
      await print(pageText(chosen, lineOf), stop);
      printed(chosen.length);
      if (stop.aborted) return;
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

/** Returns what writes an event as JSON to standard output: with escapes if that is a terminal. */
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
 * Writes the events from a start on to a new file, which gets its name once it is complete and on disk, or to standard output
 * if the file is `-`. Leaves out events that are damaged, reports each, and resolves to whether there were none.
 *
 * @throws the file exists or cannot be written, or SIGINT or SIGTERM came before the end.
 */
export async function exportEvents(
  file: string,
  log: ReadableLog,
  start: Start,
  signal: AbortSignal,
): Promise<boolean> {
  let events = 0;
  let damaged = 0;
  const lineOf = file === '-' ? jsonLine() : ArchiveLine.of;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const page of log.pages(start)) {
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

/** Whether an event can be read as a CloudEvent; reports one that the disk has damaged. */
function isWhole(event: StoredEvent): boolean {
  const problem = ArchiveLine.problemOf(event);
  if (problem !== undefined) console.error(`Event ${sequenceOf(event.position)} is left out: ${problem}.`);
  return problem === undefined;
}

/** Most events, and most bytes of their lines, that are imported at a time; they share commits. */
const BATCH_EVENTS = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;

export interface Input {
  /** `-` for standard input. */
  readonly file: string;
  readonly stream: Readable;
}

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws it cannot be read.
 */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') return { file, stream: process.stdin };
  try {
    const handle = await open(file);
    if (!(await handle.stat()).isDirectory()) return { file, stream: createReadStream(file, { fd: handle }) };
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
export async function importEvents({ file, stream }: Input, log: Pick<EventLog, 'appendAll'>): Promise<boolean> {
  const batch = new Batch(log);
  const lines = linesOf(stream);
  for (let number = 1; ; number++) {
    try {
      const line = await lines.next();
      if (line.done) break;
      batch.add(line.value);
    } catch (error) {
      await batch.record();
      throw lineError(`Line ${String(number)} of ${file}`, batch, file, error);
    }
    if (batch.isFull()) await batch.record();
  }
  await batch.record();
  console.error(`${batch.summary()}.`);
  return batch.leftOut === 0;
}

function lineError(where: string, batch: Batch, file: string, error: unknown): Error {
  const cause = fileError(file, 'read', error);
  return new Error(`${where} cannot be imported. Before it: ${batch.summary()}.`, { cause });
}

/** Events that are recorded together, and a count of all that were. */
class Batch {
  readonly #log: Pick<EventLog, 'appendAll'>;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #events: NewEvent[] = [];
  #bytes = 0;
  #recorded = 0;
  #alreadyThere = 0;
  leftOut = 0;

  constructor(log: Pick<EventLog, 'appendAll'>) {
    this.#log = log;
  }

  /**
   * Adds the event of a line; an empty line has none.
   *
   * @throws the line is not UTF-8 or does not hold an event.
   */
  add(line: Buffer): void {
    const text = this.#decode(line);
    if (text.trim() === '') return;
    this.#events.push(new ArchiveLine(text).event());
    this.#bytes += line.length;
  }

  #decode(line: Buffer): string {
    try {
      return this.#decoder.decode(line);
    } catch (cause) {
      throw new Error('It is not UTF-8.', { cause });
    }
  }

  isFull(): boolean {
    return this.#events.length === BATCH_EVENTS || this.#bytes > BATCH_BYTES;
  }

  async record(): Promise<void> {
    const appended = await this.#log.appendAll(this.#events).catch((cause: unknown) => {
      throw new Error(`The import stopped; run it again to go on. Before that: ${this.summary()}.`, { cause });
    });
    for (const [i, { id, recorded, conflict }] of appended.entries()) {
      if (recorded) this.#recorded++;
      else if (conflict === undefined) this.#alreadyThere++;
      else {
        this.leftOut++;
        const own = quoted(this.#events[i]?.id ?? '');
        console.error(
          `Event ${own} is left out: ${quoted(id)} has its Idempotency-Key, with another type or other data.`,
        );
      }
    }
    this.#events = [];
    this.#bytes = 0;
  }

  summary(): string {
    return `${String(this.#recorded)} recorded, ${String(this.#alreadyThere)} already in the log`;
  }
}
