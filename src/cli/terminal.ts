import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { StoredEvent } from '../events/stored-event';
import { foundEvent } from '../log/search';
import { plainReason, reasonOf } from '../util/errors';
import { replaceInvisible, sizeText } from '../util/text';
import { timeText } from '../util/time';

/** Thrown for arguments that make no sense; the message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;
}

/** Returns a {@link UsageError} that points to `--help`. */
export function misuse(message: string): UsageError {
  return new UsageError(`${message} See --help.`);
}

/**
 * Runs a program, and prints an error that ends it, with its exit code if it has one. Closed standard output, as behind `head`, ends it
 * without a message.
 */
export function runProgram(main: () => Promise<void>, failed: number): Promise<void> {
  const fail = (error: unknown): void => {
    const { code, exitCode = failed } = error as NodeJS.ErrnoException & { readonly exitCode?: number };
    process.exitCode = exitCode;
    if (code === 'EPIPE') process.exit();
    console.error(printable(plainReason(error), '\n'));
  };
  process.stdout.on('error', fail);
  // A forwarder goes on when its standard error is closed.
  process.stderr.on('error', () => undefined);
  return main().catch(fail);
}

/** How long a reader may still take what was printed before a signal, in milliseconds. */
const LAST_READ = 1000;

/** Writes to standard output, and resolves once all is written. The signal ends the wait for a reader, and soon the process. */
export async function print(text: string, stop?: AbortSignal): Promise<void> {
  stop?.throwIfAborted();
  const { stdout } = process;
  if (!(stdout instanceof Socket)) {
    try {
      // On a full disk the stream would take the part of a text that still fits for the whole.
      writeFileSync(1, Buffer.from(text));
    } catch (error) {
      throw fileError('-', 'written', error);
    }
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const giveUp = (): void => {
      // Unread output would keep the process alive.
      setTimeout(() => process.exit(), LAST_READ).unref();
      reject(stop?.reason as Error);
    };
    stop?.addEventListener('abort', giveUp);
    stdout.write(text, (error) => {
      stop?.removeEventListener('abort', giveUp);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Returns a signal that aborts at the first SIGINT or SIGTERM. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort(new Error('Stopped before the end.')));
  return stop.signal;
}

/** Returns a line that is safe to print: control characters are escaped, tabs become spaces, and line feeds `lineFeed`. */
export function printable(line: string, lineFeed = '\\n'): string {
  return replaceInvisible(line.replaceAll('\t', '    ')).replaceAll('\n', lineFeed);
}

/** Prints lines in which servers may have written. */
export function printLines(lines: readonly string[]): Promise<void> {
  return print(lines.map((line) => `${printable(line)}\n`).join(''));
}

/** Writes a number with what is counted: `1 event`, `2 events`. */
export function counted(count: number, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** An event on one line: when it was recorded, in UTC, its sequence, its type, the size of its data, its sender or address. */
export function eventLine(event: StoredEvent): string {
  const { recordedAt, position, type = '–', data, remoteAddress = '–', sender = remoteAddress } = foundEvent(event);
  const size = data === undefined ? '–' : sizeText(data.bytes);
  return printable(
    `${timeText(recordedAt)}  ${String(position).padStart(7)}  ${type.padEnd(24)}  ${size.padStart(9)}  ${sender}`,
  );
}

export function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw fileError(file, 'read', error);
  });
}

/** Says in one line why a file cannot be read or written. Errors that are not of the file system are returned unchanged. */
export function fileError(file: string, action: 'read' | 'written', error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  const reason = code === 'ENOENT' && action === 'written' ? 'its folder does not exist' : reasonOf(error);
  const standard = action === 'read' ? 'Standard input' : 'Standard output';
  return new Error(`${file === '-' ? standard : file} cannot be ${action}: ${reason}.`);
}

/** Most bytes of a line. The longest event that the service takes (256 MiB, in base64) has room in it. */
const MAX_LINE_BYTES = 384 * 1024 * 1024;

/**
 * Splits bytes into lines, each with its line feed, which the last may lack; yields those that end in a chunk together. Nothing else ends
 * one: `node:readline` also splits at U+2028 and U+2029, which JSON leaves as they are. Each byte is looked at once, however long a line is.
 *
 * @throws {RangeError} a line is longer than `maxBytes`.
 */
export async function* linesOf(bytes: AsyncIterable<Buffer>, maxBytes = MAX_LINE_BYTES) {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of bytes) {
    const lines: Buffer[] = [];
    for (let start = 0, end: number; start < chunk.length; start = end) {
      const lineFeed = chunk.indexOf('\n', start);
      end = lineFeed === -1 ? chunk.length : lineFeed + 1;
      pending.push(chunk.subarray(start, end));
      pendingBytes += end - start;
      if (pendingBytes > maxBytes) throw new RangeError(`It is longer than ${String(maxBytes)} bytes.`);
      if (lineFeed === -1) break;
      lines.push(Buffer.concat(pending));
      pending = [];
      pendingBytes = 0;
    }
    if (lines.length > 0) yield lines;
  }
  if (pendingBytes > 0) yield [Buffer.concat(pending)];
}
