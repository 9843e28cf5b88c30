import '../telemetry/without-tracing';
import { AggregatorRegistry, Gauge, Registry } from 'prom-client';
import type { MetricsSource } from '../http/admin';
import { within } from '../util/within';
import type { Figures } from './messages';
import type { WorkerProcess } from './worker-process';

/** How long a worker may take to send its figures, in milliseconds; without those of one that hangs the others are shown. */
const TIMEOUT = 2000;

/**
 * The metrics of several workers together. What a worker has counted stays in the sum after it has ended, as far as it was heard
 * of: a counter that goes back looks to Prometheus like a restart of everything.
 */
export class WorkerMetrics implements MetricsSource {
  readonly #workers = new Set<WorkerProcess>();
  readonly #own = new Registry();
  readonly #processes = new Gauge({
    name: 'webhook_workers',
    help: 'Worker processes by whether they answered when these metrics were read',
    labelNames: ['state'],
    registers: [this.#own],
  });
  /** What the workers that have ended had counted. */
  #counted: Figures = [];
  #merging = Promise.resolve();

  get contentType(): string {
    return this.#own.contentType;
  }

  /** Includes a worker from now on. */
  add(worker: WorkerProcess): void {
    this.#workers.add(worker);
    void worker.closed.then(() => {
      this.#merging = this.#merging.then(() => this.#merge(worker));
    });
  }

  async #merge(worker: WorkerProcess): Promise<void> {
    const counted = [this.#counted, countersOf(worker.lastFigures ?? [])];
    this.#counted = await AggregatorRegistry.aggregate(counted).getMetricsAsJSON();
    this.#workers.delete(worker);
  }

  async metrics(): Promise<string> {
    // Taken together, so that a worker that ends meanwhile is counted once.
    const counted = this.#counted;
    const answers = await Promise.all([...this.#workers].map(figuresOf));
    const states = answers.map(({ state }) => state);
    for (const state of ['answering', 'silent'] as const) {
      this.#processes.set({ state }, states.filter((one) => one === state).length);
    }
    const own = await this.#own.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([counted, ...answers.map(({ figures }) => figures), own]).metrics();
  }
}

/** The figures of a worker: those of now, or, if it does not answer, what it had counted when it last did. */
async function figuresOf(
  worker: WorkerProcess,
): Promise<{ readonly figures: Figures; readonly state: 'answering' | 'silent' | 'ended' }> {
  const ended = worker.closed.then(() => undefined);
  try {
    const figures = await within(Promise.race([worker.figures(), ended]), TIMEOUT, () => new Error('too late'));
    if (figures !== undefined) return { figures, state: 'answering' };
    return { figures: countersOf(worker.lastFigures ?? []), state: 'ended' };
  } catch {
    return { figures: countersOf(worker.lastFigures ?? []), state: 'silent' };
  }
}

/** The figures that only grow. */
function countersOf(figures: Figures): Figures {
  return figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}
