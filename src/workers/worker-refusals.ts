import { within } from '../util/within';
import { newestOf, type RefusedCall } from '../telemetry/refused-calls';
import type { WorkerProcess } from './worker-process';

/** How long a worker may take to send its refused calls, in milliseconds; of one that hangs those from before count. */
const TIMEOUT = 1000;

/**
 * The refused calls of several workers together, for the page that any one of them shows. Those of a worker that has ended
 * stay, as far as they were heard of.
 */
export class WorkerRefusals {
  readonly #workers = new Set<WorkerProcess>();
  /** Those of the workers that have ended. */
  #left: readonly RefusedCall[] = [];

  /** Includes a worker from now on, and answers it when it asks for those of all. */
  add(worker: WorkerProcess): void {
    this.#workers.add(worker);
    worker.onRefusalsWanted(() => {
      void this.#list().then((calls) => {
        worker.sendRefusals(calls);
      });
    });
    void worker.closed.then(() => {
      this.#workers.delete(worker);
      this.#left = newestOf([this.#left, worker.lastRefusals]);
    });
  }

  async #list(): Promise<readonly RefusedCall[]> {
    const lists = await Promise.all([...this.#workers].map(refusalsOf));
    return newestOf([this.#left, ...lists]);
  }
}

async function refusalsOf(worker: WorkerProcess): Promise<readonly RefusedCall[]> {
  const ended = worker.closed.then(() => worker.lastRefusals);
  try {
    return await within(Promise.race([worker.refusals(), ended]), TIMEOUT, () => new Error('too late'));
  } catch {
    return worker.lastRefusals;
  }
}
