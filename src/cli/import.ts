import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { parseArchiveLine } from '../events/archive';
import type { EventLog, NewEvent } from '../log/event-log';
import { fileError } from './file-error';
import { linesOf } from './lines';
import { progressBar } from './progress';

/** Most events, and most bytes of their lines, that are imported at a time; they share commits. */
const BATCH_EVENTS = 1000;
const BATCH_BYTES = 8 * 1024 * 1024;

/** What is imported. */
export interface Input {
  /** `-` for standard input. */
  readonly file: string;
  readonly stream: Readable & { readonly bytesRead?: number };
  /** Undefined: not known. */
  readonly bytes: number | undefined;
}

/**
 * Opens a file, or standard input where it is `-`.
 *
 * @throws it cannot be read.
 */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') return { file, stream: process.stdin, bytes: undefined };
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR', syscall: 'open' });
    return { file, stream: createReadStream(file, { fd: handle }), bytes: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}

/**
 * Records the events of a file that are not in the log yet.
 *
 * @throws a line cannot be imported; the events of the lines before it are recorded.
 */
export async function importEvents({ file, stream, bytes }: Input, log: EventLog): Promise<void> {
  const progress = bytes === undefined ? undefined : progressBar('bytes imported', bytes);
  const batch = new Batch(log);
  const lines = linesOf(stream);
  try {
    for (let number = 1; ; number++) {
      try {
        const line = await lines.next();
        if (line.done) break;
        await batch.add(line.value);
      } catch (error) {
        await batch.record();
        throw lineError(`Line ${String(number)} of ${file}`, batch, file, error);
      }
      if (!batch.isFull()) continue;
      await batch.record();
      progress?.update(stream.bytesRead ?? 0);
    }
    await batch.record();
  } finally {
    progress?.stop();
  }
  console.error(`${batch.summary()}.`);
}

function lineError(where: string, batch: Batch, file: string, error: unknown): Error {
  const cause = fileError(file, 'read', error);
  return new Error(`${where} cannot be imported. Before it: ${batch.summary()}.`, { cause });
}

/** Events that are recorded together, and a count of all that were. */
class Batch {
  readonly #log: EventLog;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #events: NewEvent[] = [];
  #bytes = 0;
  #recorded = 0;
  #alreadyThere = 0;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Adds the event of a line; an empty line has none.
   *
   * @throws the line is not UTF-8 or does not hold an event.
   */
  async add(line: Buffer): Promise<void> {
    const text = this.#decode(line);
    if (text.trim() === '') return;
    this.#events.push(await parseArchiveLine(text));
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
    for (const { recorded } of appended) {
      if (recorded) this.#recorded++;
      else this.#alreadyThere++;
    }
    this.#events = [];
    this.#bytes = 0;
  }

  summary(): string {
    return `${String(this.#recorded)} recorded, ${String(this.#alreadyThere)} already in the log`;
  }
}
