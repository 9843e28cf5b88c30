import type { App } from '../app';
import type { ProcessConfig } from '../config/process-config';
import { within } from '../util/promises';
import { Remote } from '../util/remote';
import type { Refusals } from '../telemetry/refused-calls';
import { PROTOCOL, type Report, type SupervisorFunctions, type WorkerFunctions } from './protocol';

/** How long a worker that ends waits for the supervisor to take its report, in milliseconds. */
const LEAVE_TIMEOUT = 1000;

/** How long the supervisor may take to collect the refused calls of all workers, in milliseconds. */
const COLLECT_TIMEOUT = 2000;

/** The supervisor as its worker, this process, sees it. */
export class SupervisorProcess {
  readonly #remote: Remote<SupervisorFunctions>;
  #asking: Promise<Refusals> | undefined;

  /** @throws {Error} the supervisor, which a new build does not replace, is of a build that speaks another protocol. */
  constructor({ common }: ProcessConfig) {
    if (common?.protocol !== PROTOCOL)
      throw new Error(
        'This worker is of another build than its supervisor, and they speak to each other in different ways. Restart the service: ' +
          'SIGHUP cannot renew the workers across these builds.',
      );
    const remote = new Remote<SupervisorFunctions>((message) => {
      if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
    });
    process.on('message', (message) => {
      remote.receive(message);
    });
    process.once('disconnect', () => {
      remote.end(new Error('the supervisor has ended'));
    });
    this.#remote = remote;
  }

  /**
   * Tells the supervisor that this process is ready to answer, and calls `retire` when another one has taken its place.
   *
   * @returns sends the last report, so that it is not lost when the process ends. Never rejects.
   */
  join(app: Pick<App, 'url' | 'metrics' | 'refusals'>, retire: (why: string) => void): () => Promise<void> {
    const report = async (): Promise<Report> => {
      const figures = await app.metrics.getMetricsAsJSON();
      return { figures, refusals: app.refusals() };
    };
    // A terminal sends SIGHUP to the whole process group; it is meant for the supervisor alone.
    process.on('SIGHUP', () => undefined);
    this.#remote.serve<WorkerFunctions>({
      report,
      retire() {
        retire('retire');
      },
    });
    this.#remote.tell('ready', app.url);
    const leave = async () => this.#remote.ask('leave', await report());
    return () => within(leave(), LEAVE_TIMEOUT, () => new Error('too late')).catch(() => undefined);
  }

  /** Asks for the refusals of all workers. Resolves to those of this one if there is no answer. */
  async refusals(own: () => Refusals): Promise<Refusals> {
    this.#asking ??= within(this.#remote.ask('refusals'), COLLECT_TIMEOUT, () => new Error('too late')).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking.catch(own);
  }
}
