import { setImmediate, setTimeout as wait } from 'node:timers/promises';

/** A promise and the functions that settle it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Makes a promise that its holder settles (`Promise.withResolvers`, which Node has since version 22). */
export function deferred<T = void>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as unknown as Pick<Deferred<T>, 'resolve' | 'reject'>) };
}

/**
 * Settles as the promise does, or rejects after `milliseconds`.
 *
 * @param late - makes the error of a promise that took too long.
 */
export async function within<T>(promise: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(late());
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a few tasks at once; the others wait, and begin in the order in which they came. */
export class Turns {
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs a task when its turn has come, and settles as the task does. */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      // The turn is handed to the task that has waited longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** A message with more bytes or characters than this is worked on in parts, between which other calls run. */
export const LARGE_MESSAGE = 256 * 1024;

/** What a small call needs from its header to its commit and its reply, in milliseconds. */
const PAUSE = 5;

/** Pauses, so that all calls that have arrived run from their headers to their replies. */
export async function letOthersRun(): Promise<void> {
  await setImmediate();
  await wait(PAUSE);
}

/** Characters of a large text that are worked on at a time: at most 20 ms of work, whatever they are (measured). */
const PART_LENGTH = 64 * 1024;

/** Passes a large text on in parts, in order, between which other calls run. */
export async function inParts(text: string, work: (part: string) => void): Promise<void> {
  for (let start = 0; start < text.length; start += PART_LENGTH) {
    work(text.slice(start, start + PART_LENGTH));
    await letOthersRun();
  }
}
