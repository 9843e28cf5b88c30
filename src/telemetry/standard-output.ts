import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Most characters of lines that wait to be written; further lines are lost. */
const MAX_WAITING = 1024 * 1024;

/** How long to wait before the next try if a reader takes nothing at present, in milliseconds. */
const RETRY = 50;

/** How long `flush` waits for a reader, in milliseconds. */
const FLUSH_TIMEOUT = 1000;

/**
 * Writes log lines to standard output without blocking the program: if the disk is full or the reader stalls, they wait until
 * it works again, and are lost once there are too many of them.
 */
export class StandardOutput implements DestinationStream {
  readonly #fd: number;
  readonly #lostLines: (lines: number) => void;
  /** The text that is being written, or was when writing failed. */
  #chunk = Buffer.alloc(0);
  #state: 'idle' | 'in the system' | 'pausing' = 'idle';
  #waiting = '';
  #lost = 0;
  #flushed: ((stuck?: Error) => void) | undefined;

  /** @param lostLines - called, once writing works again, with the number of lines that were lost. */
  constructor(lostLines: (lines: number) => void) {
    this.#lostLines = lostLines;
    // Access to it makes a pipe or a socket non-blocking: a write that does not return would keep the process from ending.
    this.#fd = process.stdout.fd;
  }

  write(line: string): void {
    if (this.#waiting.length > MAX_WAITING) this.#lost++;
    else {
      if (this.#state !== 'idle' && this.#waiting === '') process.on('exit', this.#writeAtExit);
      this.#waiting += line;
    }
    if (this.#state === 'idle') this.#write();
  }

  /** Calls back when all lines are written, writing fails, or after a second; with an error if the process cannot exit. */
  flush(done: (stuck?: Error) => void): void {
    const timer = setTimeout(() => {
      this.#flushed?.(this.#state === 'in the system' ? new Error('standard output does not return') : undefined);
    }, FLUSH_TIMEOUT);
    this.#flushed = (stuck) => {
      this.#flushed = undefined;
      clearTimeout(timer);
      done(stuck);
    };
    if (this.#state === 'idle') this.#write();
  }

  #write(): void {
    if (this.#chunk.length === 0) {
      this.#chunk = Buffer.from(this.#waiting);
      this.#waiting = '';
      process.off('exit', this.#writeAtExit);
    }
    if (this.#chunk.length === 0) {
      this.#state = 'idle';
      this.#flushed?.();
      return;
    }
    this.#state = 'in the system';
    write(this.#fd, this.#chunk, (error, written) => {
      if (error === null) this.#wrote(written);
      else if (error.code === 'EAGAIN') this.#pause();
      else {
        // The next line tries again.
        this.#state = 'idle';
        this.#flushed?.();
      }
    });
  }

  #wrote(bytes: number): void {
    this.#chunk = this.#chunk.subarray(bytes);
    if (this.#lost > 0 && this.#waiting.length < MAX_WAITING / 2) {
      const lost = this.#lost;
      this.#lost = 0;
      this.#lostLines(lost);
    }
    this.#write();
  }

  #pause(): void {
    this.#state = 'pausing';
    setTimeout(() => {
      this.#write();
    }, RETRY).unref();
  }

  /** A process that ends by an error has no time left. */
  readonly #writeAtExit = (): void => {
    try {
      if (this.#state !== 'pausing') writeSync(this.#fd, this.#waiting);
    } catch {
      // They are lost.
    }
  };
}
