import pino, { destination, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Lines of one kind that are written in a second; a flood of refusals must not become one on the disk. */
const LINES_PER_SECOND = 20;

/** Makes the log: one line of JSON for each entry, on standard output unless told otherwise. Nothing waits for it. */
export function createLogger(level: string, stream: DestinationStream = destination({ dest: 1, sync: false })): Logger {
  const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
  return pino({ ...options, formatters: { level: (label) => ({ level: label }) } }, stream);
}

/** Writes lines of one kind, but only so many in a second; the next one says how many were left out. */
export class LimitedLines {
  readonly #write: (fields: object, message: string) => void;
  #second = 0;
  #lines = 0;
  #omitted = 0;

  constructor(write: (fields: object, message: string) => void) {
    this.#write = write;
  }

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
