import pino, { destination, type DestinationStream, type Logger } from 'pino';
import { visible } from '../util/text';

export type { Logger } from 'pino';

/** Most lines of one kind that are written in a second: a flood of refusals must not fill the disk. */
const LINES_PER_SECOND = 20;

/**
 * Makes the logger: one line of JSON for each entry, on standard output by default, written asynchronously. `flush` calls back
 * when all lines are written.
 */
export function createLogger(level: string, stream = standardOutput()): Logger {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  return pino({ ...options, formatters: { level: (label) => ({ level: label }), log: withLogText } }, stream);
}

function standardOutput(): DestinationStream {
  // With a `minLength` of 0, its default, `flush` calls back at once.
  return destination({ dest: 1, sync: false, minLength: 1 });
}

/** Most characters of a text in a log line: callers choose some of them, and how long they are. */
const MAX_CHARACTERS = 300;

/** Shortens the texts among the fields of a line, and escapes what is not visible in them. */
function withLogText(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? logText(value) : value]),
  );
}

function logText(text: string): string {
  const shown =
    text.length <= MAX_CHARACTERS
      ? text
      : `${text.slice(0, MAX_CHARACTERS).toWellFormed()}… (${String(text.length)} characters)`;
  return visible(shown);
}

/** Writes at most 20 lines of one kind in a second; `omitted` in the next one says how many were left out. */
export class LimitedLines {
  readonly #write: (fields: object, message: string) => void;
  #second = 0;
  #lines = 0;
  #omitted = 0;

  constructor(write: (fields: object, message: string) => void) {
    this.#write = write;
  }

  /** Writes the line, or counts it as left out. */
  write(fields: object, message: string): void {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#lines = 0;
    }
    if (++this.#lines > LINES_PER_SECOND) {
      this.#omitted++;
      return;
    }
    this.#write(this.#omitted === 0 ? fields : { ...fields, omitted: this.#omitted }, message);
    this.#omitted = 0;
  }
}

/** Tells the operator what to change where callers show that a setting or a client does not fit: each hint once. */
export class Hints {
  readonly #logger: Logger;
  readonly #given = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Logs a hint, the first time that this key is given.
   *
   * @param key - names the hint; one of a few, never a text of a caller.
   * @param message - says what was seen and what to change.
   */
  once(key: string, message: string, fields: object = {}): void {
    if (this.#given.has(key)) return;
    this.#given.add(key);
    this.#logger.warn({ hint: key, ...fields }, message);
  }
}
