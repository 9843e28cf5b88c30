import type { RetentionSteps } from './engine';

/** Forgets events step by step, with pauses, until it is stopped. */
export class RetentionLoop {
  readonly #steps: RetentionSteps;
  #timer: NodeJS.Timeout | undefined;
  #step: Promise<void>;
  #isStopped = false;

  constructor(steps: RetentionSteps) {
    this.#steps = steps;
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
    // The disk is full, the database locked or the cluster away: calls say so, and the next step may go well.
    const more = await this.#steps.step().catch(() => false);
    if (this.#isStopped) return;
    this.#timer = setTimeout(
      () => {
        this.#step = this.#take();
      },
      more ? busyPause : idlePause,
    );
  }
}
