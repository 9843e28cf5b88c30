import { AggregatorRegistry, Gauge } from 'prom-client';
import { Metrics } from '../telemetry/metrics';
import { RefusedCalls, type Refusals } from '../telemetry/refused-calls';
import { NO_REPORT, type Report, type WorkerProcess } from './worker';

type ReportingWorker = Pick<WorkerProcess, 'ended' | 'lastReport' | 'report'>;

/** The metrics and the refused calls of all workers. The counts of a worker that has ended stay: no counter goes back. */
export class Reports {
  readonly #workers = new Set<ReportingWorker>();
  /** The metrics of this process. */
  readonly own = new Metrics();
  readonly contentType = this.own.registry.contentType;
  readonly #processes = new Gauge({
    name: 'webhook_workers',
    help: 'Worker processes by whether they answered when these metrics were read',
    labelNames: ['state'],
    registers: [this.own.registry],
  });
  /** Counts and refusals of the workers that have ended. */
  #ended = NO_REPORT;
  #merging = Promise.resolve();

  add(worker: ReportingWorker): void {
    this.#workers.add(worker);
    void worker.ended.then(() => (this.#merging = this.#merging.then(() => this.#merge(worker))));
  }

  /** Never rejects: leaves out a report in the form of another build. */
  async #merge(worker: ReportingWorker): Promise<void> {
    let { figures, refusals } = this.#ended;
    try {
      const last = countersOf(worker.lastReport);
      refusals = RefusedCalls.merged([refusals, last.refusals]);
      figures = await AggregatorRegistry.aggregate([figures, last.figures]).getMetricsAsJSON();
    } catch {
      // Its figures may also count something else under the same name.
    }
    this.#ended = { figures, refusals };
    this.#workers.delete(worker);
  }

  async metrics(): Promise<string> {
    const reports = await this.#reports();
    for (const state of ['answering', 'silent'] as const) {
      this.#processes.set({ state }, reports.filter((report) => report.state === state).length);
    }
    const own = await this.own.registry.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([...reports.map(({ figures }) => figures), own]).metrics();
  }

  /** @throws {Error} no worker says that it can take events. */
  async check(): Promise<void> {
    const checks = [...this.#workers].map(async (worker) => {
      const { figures } = await worker.report();
      if (figures.find(({ name }) => name === 'webhook_ready')?.values[0]?.value !== 1) throw new Error('not ready');
    });
    await Promise.any(checks).catch(() => {
      throw new Error('No worker can take events. /readyz at the service says why.');
    });
  }

  /** The refusals of all workers and, from `own`, those of this process. */
  async refusals(own: () => Refusals): Promise<Refusals> {
    const reports = await this.#reports();
    return RefusedCalls.merged([own(), ...reports.map(({ refusals }) => refusals)]);
  }

  /** Returns the counts of ended workers, and a report of each other: a fresh one or, if it does not answer, the counts of its last. */
  async #reports() {
    // Taken together, so that a worker that ends meanwhile is counted once.
    const ended = { ...this.#ended, state: 'ended' };
    const reports = [...this.#workers].map((worker) =>
      worker.report().then(
        (report) => ({ ...report, state: 'answering' }),
        () => ({ ...countersOf(worker.lastReport), state: 'silent' }),
      ),
    );
    return [ended, ...(await Promise.all(reports))];
  }
}

function countersOf({ figures, refusals }: Report): Report {
  return { figures: figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type))), refusals };
}
