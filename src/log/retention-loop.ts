import type { RetentionSteps } from './engine';

/** Forgets events step by step, with pauses, until it is stopped. */
export class RetentionLoop {
  readonly #steps: RetentionSteps;
  readonly #took: (error?: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #step: Promise<void>;
  #isStopped = false;

  /** @param took - called once nothing is left to forget, and after each step that failed, with its error. */
  constructor(steps: RetentionSteps, took: (error?: unknown) => void) {
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
    let more = false;
    try {
      more = await this.#steps.step();
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
