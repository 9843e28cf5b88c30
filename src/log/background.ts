import { setTimeout as delay } from 'node:timers/promises';
import { Deferred } from '../util/promises';
import type { Engine, Retention, RetentionSteps } from './engine';

/** Shortest pause between two looks at the newest position, in milliseconds: commits may follow each other faster. */
const LEAST_PAUSE = 5;

/** Tells listeners the newest position when it has changed: soon after {@link wake}, and after pauses for what others recorded. */
export class LogWatch {
  readonly #listeners = new Set<(newest: number) => void>();
  #newest: number | undefined;
  #woken = new Deferred();
  #ended = new AbortController();

  constructor(private readonly engine: Pick<Engine, 'newest' | 'watchPause'>) {}

  /** As `EventLog.watch`. */
  add(listener: (newest: number) => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) void this.#look();
    queueMicrotask(() => {
      if (this.#newest !== undefined && this.#listeners.has(listener)) listener(this.#newest);
    });
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#ended.abort();
    };
  }

  wake(): void {
    this.#woken.resolve();
  }

  async #look(): Promise<void> {
    const { signal } = (this.#ended = new AbortController());
    this.#newest = undefined;
    while (!signal.aborted) {
      this.#woken = new Deferred();
      // Calls that read or record say why it fails.
      const newest = await this.engine.newest().catch(() => undefined);
      if (newest !== undefined && newest !== this.#newest) {
        this.#newest = newest;
        for (const listen of this.#listeners) listen(newest);
      }
      await pause(LEAST_PAUSE, signal);
      await Promise.race([this.#woken.promise, pause(this.engine.watchPause, signal)]);
    }
  }

  /** Ends the watch for all. */
  end(): void {
    this.#listeners.clear();
    this.#ended.abort();
  }
}

/** Pause between two checks of the files of a log, in milliseconds. */
const CHECK_PAUSE = 500;

/** Calls a listener when the files of a log are lost, with the problem, and when they are back, until the signal. */
export async function watchFiles(
  verify: () => Promise<void>,
  listener: (problem?: string) => void,
  signal: AbortSignal,
  checkPause = CHECK_PAUSE,
): Promise<void> {
  let wereLost = false;
  while (!signal.aborted) {
    const problem = await verify().then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    const areLost = problem !== undefined;
    if (areLost !== wereLost && !signal.aborted) listener(problem);
    wereLost = areLost;
    await pause(checkPause, signal);
  }
}

/**
 * Forgets events step by step, with pauses, until the signal.
 *
 * @param retention - asked before each step.
 * @param notify - called once nothing is left to forget, and after each step that failed, with its error.
 */
export async function forgetDue(
  steps: RetentionSteps,
  retention: () => Retention,
  notify: (error?: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const { idlePause, busyPause = idlePause } = steps;
  while (!signal.aborted) {
    const { maxEvents, maxAge } = retention();
    let more = false;
    try {
      if (maxEvents !== undefined || maxAge !== undefined) more = await steps.step({ maxEvents, maxAge });
      // One that leaves more to do may have done nothing.
      if (!more) notify();
    } catch (error) {
      // Closing ends a step, too.
      if (!signal.aborted) notify(error);
    }
    await pause(more ? busyPause : idlePause, signal);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
