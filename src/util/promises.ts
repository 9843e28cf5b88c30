import { setImmediate as nextTurn } from 'node:timers/promises';

/** A promise that its holder settles (`Promise.withResolvers`, which Node has since version 22). */
export class Deferred<T = void> {
  resolve!: (value: T) => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

/** Settles as the promise does, or rejects after `milliseconds` with the error that `late` returns. */
export async function within<T>(promise: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  const timeout = new Deferred<never>();
  const timer = setTimeout(() => timeout.reject(late()), milliseconds);
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a few tasks at once; the others wait, and begin in the order in which they came. */
export class Semaphore {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(private readonly atOnce: number) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await task();
    } finally {
      // The place is handed to the task that has waited longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** A message with more bytes or characters is read in another thread; work on more of it lets others run in between. */
export const LARGE_MESSAGE = 64 * 1024;

/** How long {@link letOthersRun} waits at most, and how long a round of the event loop takes in which nothing ran, in milliseconds. */
const PAUSE = 5;
const QUIET = 0.2;

/** Lets calls that have arrived run, for up to 5 ms; does not wait if there are none. */
export async function letOthersRun(): Promise<void> {
  const until = performance.now() + PAUSE;
  let round: number;
  do {
    const began = performance.now();
    await nextTurn();
    round = performance.now() - began;
  } while (round > QUIET && performance.now() < until);
}
