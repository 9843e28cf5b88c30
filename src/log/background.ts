import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, Retention, RetentionSteps } from './engine';

/** Calls a listener with the newest position: after commits, and after regular looks for what others recorded. */
export class LogWatch {
  readonly #listener: (newest: number) => void;
  readonly #ended = new AbortController();
  #told: number | undefined;

  constructor(engine: Pick<Engine, 'newest' | 'watchPause'>, listener: (newest: number) => void) {
    this.#listener = listener;
    void this.#look(engine);
  }

  tell(newest: number): void {
    if (this.#ended.signal.aborted || newest === this.#told) return;
    this.#told = newest;
    this.#listener(newest);
  }

  async #look(engine: Pick<Engine, 'newest' | 'watchPause'>): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const told = this.#told;
      // Calls that read or record say why a look fails.
      const newest = await engine.newest().catch(() => undefined);
      // A position told meanwhile may be newer than what the look saw.
      if (newest !== undefined && this.#told === told) this.tell(newest);
      await pause(engine.watchPause, this.#ended.signal);
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
