import type { Engine, Retention, RetentionSteps } from './engine';

/** Calls a listener with the newest position: after commits, and after regular looks for what others recorded. */
export class LogWatch {
  readonly #engine: Pick<Engine, 'newest' | 'watchPause'>;
  readonly #listener: (newest: number) => void;
  #told: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(engine: Pick<Engine, 'newest' | 'watchPause'>, listener: (newest: number) => void) {
    this.#engine = engine;
    this.#listener = listener;
    void this.#look();
  }

  tell(newest: number): void {
    if (this.#isEnded || newest === this.#told) return;
    this.#told = newest;
    this.#listener(newest);
  }

  async #look(): Promise<void> {
    const told = this.#told;
    try {
      const newest = await this.#engine.newest();
      // A position told meanwhile may be newer than what the look saw.
      if (this.#told === told) this.tell(newest);
    } catch {
      // Calls that read or record say why; the next look may go well.
    }
    if (!this.#isEnded) this.#timer = setTimeout(() => void this.#look(), this.#engine.watchPause);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }
}

/** Forgets events step by step, with pauses, until it is stopped. */
export class RetentionLoop {
  /** Applies from the next step on. */
  retention: Retention;
  readonly #steps: RetentionSteps;
  readonly #took: (error?: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #step: Promise<void>;
  #isStopped = false;

  /** @param took - called once nothing is left to forget, and after each step that failed, with its error. */
  constructor(steps: RetentionSteps, retention: Retention, took: (error?: unknown) => void) {
    this.retention = retention;
    this.#steps = steps;
    this.#took = took;
    this.#step = this.#take();
  }

  /** Takes no further step; resolves once none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#step;
  }

  async #take(): Promise<void> {
    const { busyPause, idlePause } = this.#steps;
    const { maxEvents, maxAge } = this.retention;
    let more = false;
    try {
      if (maxEvents !== undefined || maxAge !== undefined) more = await this.#steps.step({ maxEvents, maxAge });
      // One that leaves more to do may have done nothing.
      if (!more) this.#took();
    } catch (error) {
      // The disk is full, the database locked or the cluster away: the next step may go well. Closing ends a step, too.
      if (!this.#isStopped) this.#took(error);
    }
    if (this.#isStopped) return;
    this.#timer = setTimeout(
      () => {
        this.#step = this.#take();
      },
      more ? busyPause : idlePause,
    );
  }
}
