import { setTimeout as delay } from 'node:timers/promises';
import { Deferred } from '../util/promises';
import type { Engine, Retention, RetentionSteps } from './engine';

/** Shortest pause between two looks at the newest position, in milliseconds: commits may follow each other faster. */
const LEAST_PAUSE = 5;

/** Calls a listener with the newest position when that has changed: soon after `wake`, and after pauses for what others recorded. */
export class LogWatch {
  readonly #ended = new AbortController();
  #woken = new Deferred();

  constructor(engine: Pick<Engine, 'newest' | 'watchPause'>, listener: (newest: number) => void) {
    void this.#watch(engine, listener);
  }

  wake(): void {
    this.#woken.resolve();
  }

  async #watch(engine: Pick<Engine, 'newest' | 'watchPause'>, listener: (newest: number) => void): Promise<void> {
    const { signal } = this.#ended;
    for (let last: number | undefined; !signal.aborted;) {
      this.#woken = new Deferred();
      // Calls that read or record say why it fails.
      const newest = await engine.newest().catch(() => undefined);
      if (newest !== undefined && newest !== last && !signal.aborted) listener((last = newest));
      await pause(LEAST_PAUSE, signal);
      await Promise.race([this.#woken.promise, pause(engine.watchPause, signal)]);
    }
  }

  end(): void {
    this.#ended.abort();
  }
}

/** Pause between two looks at the files of a log, in milliseconds. */
const LOOK_PAUSE = 500;

/** Calls a listener when the files of a log are lost, with the problem, and when they are back, until the signal. */
export async function watchFiles(
  look: () => Promise<void>,
  listener: (problem?: string) => void,
  signal: AbortSignal,
  lookPause = LOOK_PAUSE,
): Promise<void> {
  for (let isLost = false; !signal.aborted; await pause(lookPause, signal)) {
    const problem = await look().then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    if (signal.aborted || isLost === (problem !== undefined)) continue;
    isLost = !isLost;
    listener(problem);
  }
}

/** Forgets events step by step, with pauses, until it is stopped. */
export class RetentionLoop {
  /** Applies from the next step on. */
  retention: Retention;
  readonly #stopped = new AbortController();
  readonly #run: Promise<void>;

  /** @param took - called once nothing is left to forget, and after each step that failed, with its error. */
  constructor(steps: RetentionSteps, retention: Retention, took: (error?: unknown) => void) {
    this.retention = retention;
    this.#run = this.#takeSteps(steps, took);
  }

  /** Takes no further step; resolves once none is in progress. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#run;
  }

  async #takeSteps(steps: RetentionSteps, took: (error?: unknown) => void): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const { maxEvents, maxAge } = this.retention;
      let more = false;
      try {
        if (maxEvents !== undefined || maxAge !== undefined) more = await steps.step({ maxEvents, maxAge });
        // One that leaves more to do may have done nothing.
        if (!more) took();
      } catch (error) {
        // Closing ends a step, too.
        if (!signal.aborted) took(error);
      }
      await pause(more ? steps.busyPause : steps.idlePause, signal);
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
