import type { Registry } from 'prom-client';
import type { startApp } from '../app';
import type { Refusals } from '../telemetry/refused-calls';
import { within } from '../util/promises';
import { Remote } from '../util/remote';

/** How long the supervisor may take to receive the last report, and to collect the refused calls of all workers, in milliseconds. */
const LEAVE_TIMEOUT = 1000;
const COLLECT_TIMEOUT = 2000;

export interface Report {
  /** As `prom-client` aggregates them. */
  readonly figures: Awaited<ReturnType<Registry['getMetricsAsJSON']>>;
  readonly refusals: Refusals;
}

export const NO_REPORT: Report = { figures: [], refusals: { calls: [], perMinute: new Map() } };

/** The functions of a worker. Its supervisor may be of an earlier build. */
export interface WorkerFunctions {
  report(): Promise<Report>;
  /** Ends the worker: another one has taken its place. */
  retire(): void;
}

export interface SupervisorFunctions {
  /** The worker answers at this absolute address of the endpoint. */
  ready(url: string): void;
  /** Takes the report of a worker that ends. */
  leave(report: Report): void;
  refusals(): Promise<Refusals>;
}

/** The supervisor as its worker, this process, sees it. */
export class SupervisorProcess {
  readonly #remote = new Remote<SupervisorFunctions>((message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  });

  constructor() {
    process.on('message', (message) => {
      this.#remote.receive(message);
    });
    process.once('disconnect', () => {
      this.#remote.end(new Error('the supervisor has ended'));
    });
  }

  /**
   * Tells the supervisor that this process is ready to answer, and calls `retire` when another one has taken its place.
   *
   * @returns sends the last report, so that it is not lost when the process ends. Never rejects.
   */
  join(
    app: Pick<Awaited<ReturnType<typeof startApp>>, 'url' | 'metrics' | 'refusals'>,
    retire: (why: string) => void,
  ): () => Promise<void> {
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
  refusals(own: () => Refusals): Promise<Refusals> {
    return within(this.#remote.ask('refusals'), COLLECT_TIMEOUT, () => new Error('too late')).catch(own);
  }
}
