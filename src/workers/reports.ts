import { AggregatorRegistry, Gauge } from 'prom-client';
import { Metrics } from '../telemetry/metrics';
import { RefusedCalls, type Refusals } from '../telemetry/refused-calls';
import { within } from '../util/promises';
import { NO_REPORT, type Figures, type Report } from './protocol';
import type { WorkerProcess } from './worker-process';

/** How long a worker may take to send its report, in milliseconds; of one that hangs the last report counts. */
const TIMEOUT = 1000;

type ReportingWorker = Pick<WorkerProcess, 'ended' | 'lastReport' | 'report'>;

/**
 * The metrics and the refused calls of several workers together. What the last report of a worker that has ended says stays in
 * both: a counter that goes back looks to Prometheus like a restart of everything.
 */
export class Reports {
  readonly #workers = new Set<ReportingWorker>();
  /** The metrics of this process: of its admin server. */
  readonly own = new Metrics();
  readonly #processes = new Gauge({
    name: 'webhook_workers',
    help: 'Worker processes by whether they answered when these metrics were read',
    labelNames: ['state'],
    registers: [this.own.registry],
  });
  /** Counts and refusals of the workers that have ended. */
  #left = NO_REPORT;
  #merging = Promise.resolve();

  get contentType(): string {
    return this.own.registry.contentType;
  }

  /** Includes a worker. */
  add(worker: ReportingWorker): void {
    this.#workers.add(worker);
    void worker.ended.then(() => {
      this.#merging = this.#merging.then(() => this.#merge(worker));
    });
  }

  /** Never rejects: what a worker of another build has reported in another form is left out. */
  async #merge(worker: ReportingWorker): Promise<void> {
    let { figures, refusals } = this.#left;
    const { lastReport } = worker;
    try {
      refusals = RefusedCalls.merged([refusals, lastReport.refusals]);
      figures = await AggregatorRegistry.aggregate([figures, countersOf(lastReport.figures)]).getMetricsAsJSON();
    } catch {
      // Its figures may also count something else under the same name.
    }
    this.#left = { figures, refusals };
    this.#workers.delete(worker);
  }

  async metrics(): Promise<string> {
    // Taken together, so that a worker that ends meanwhile is counted once.
    const { figures: counted } = this.#left;
    const answers = await Promise.all([...this.#workers].map(reportOf));
    for (const state of ['answering', 'silent'] as const) {
      this.#processes.set({ state }, answers.filter((answer) => answer.state === state).length);
    }
    const own = await this.own.registry.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([counted, ...answers.map(({ figures }) => figures), own]).metrics();
  }

  /** @throws {Error} no worker says that it can take events. */
  async check(): Promise<void> {
    const checks = [...this.#workers].map(async (worker) => {
      const { state, figures } = await reportOf(worker);
      const ready = figures.find(({ name }) => name === 'webhook_ready')?.values[0]?.value;
      if (state !== 'answering' || ready !== 1) throw new Error('not ready');
    });
    await Promise.any(checks).catch(() => {
      throw new Error('No worker can take events. /readyz at the service says why.');
    });
  }

  /** The refusals of all workers and, from `own`, those of this process. */
  async refusals(own: () => Refusals): Promise<Refusals> {
    const left = this.#left;
    const answers = await Promise.all([...this.#workers].map(reportOf));
    return RefusedCalls.merged([own(), ...[left, ...answers].map(({ refusals }) => refusals)]);
  }
}

/** A worker's report: that of now, or, if it does not answer, what it had counted and refused when it last did. */
async function reportOf(worker: ReportingWorker): Promise<Report & { state: 'answering' | 'silent' | 'ended' }> {
  const ended = worker.ended.then(() => 'ended' as const);
  const report = await within(Promise.race([worker.report(), ended]), TIMEOUT, () => new Error('too late')).catch(
    () => 'silent' as const,
  );
  if (typeof report === 'object') return { ...report, state: 'answering' };
  return { ...worker.lastReport, figures: countersOf(worker.lastReport.figures), state: report };
}

/** The figures that only grow. */
function countersOf(figures: Figures): Figures {
  return figures.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}
