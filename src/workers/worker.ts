import cluster, { type Worker } from 'node:cluster';
import type { Registry } from 'prom-client';
import type { startApp } from '../app';
import type { Refusals } from '../telemetry/refused-calls';
import { Deferred, within } from '../util/promises';
import { Remote } from '../util/remote';

/** How long the report of a worker may take, and to collect the refused calls of all workers, in milliseconds. */
const REPORT_TIMEOUT = 1000;
const COLLECT_TIMEOUT = 2000;

export interface Report {
  /** As `prom-client` aggregates them. */
  readonly figures: Awaited<ReturnType<Registry['getMetricsAsJSON']>>;
  readonly refusals: Refusals;
}

export const NO_REPORT: Report = { figures: [], refusals: { calls: [], perMinute: new Map() } };

/** The functions of a worker. Its supervisor may be of an earlier build. */
interface WorkerFunctions {
  report(): Promise<Report>;
  /** Ends the worker after its calls in flight: another one has taken its place. */
  retire(): Promise<void>;
  /** Ends the worker after its calls in flight. Not a signal: under Windows each ends a process at once. */
  stop(): void;
}

type App = Pick<Awaited<ReturnType<typeof startApp>>, 'url' | 'metrics' | 'refusals'>;

interface SupervisorFunctions {
  /** The worker answers at this absolute address of the endpoint. */
  ready(url: string): void;
  /** Takes the report of a worker that ends. */
  leave(report: Report): void;
  refusals(): Promise<Refusals>;
  /** The log's files are lost; without a problem, they are back. */
  lost(problem?: string): void;
}

/** The supervisor as its worker, this process, sees it. */
export class SupervisorProcess {
  readonly #remote = new Remote<SupervisorFunctions>((message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  });

  constructor() {
    // A terminal sends SIGHUP to the whole process group; it is meant for the supervisor alone.
    process.on('SIGHUP', () => undefined);
    process.on('message', this.#remote.receive);
    process.once('disconnect', () => this.#remote.end(new Error('the supervisor has ended')));
  }

  /** Notifies the supervisor that this process is ready to answer. */
  join(app: App, functions: Pick<WorkerFunctions, 'retire' | 'stop'>): void {
    this.#remote.serve<WorkerFunctions>({ ...functions, report: () => reportOf(app) });
    this.#remote.tell('ready', app.url);
  }

  /** Sends the last report, so that it is not lost when the process ends. Never rejects. */
  async leave(app: App): Promise<void> {
    const sent = reportOf(app).then((report) => this.#remote.ask('leave', report));
    await within(sent, REPORT_TIMEOUT, () => new Error('too late')).catch(() => undefined);
  }

  /** Asks for the refusals of all workers. Resolves to those of this one if there is no answer. */
  refusals(own: () => Refusals): Promise<Refusals> {
    return within(this.#remote.ask('refusals'), COLLECT_TIMEOUT, () => new Error('too late')).catch(own);
  }

  /** Has the supervisor say once for all workers that files are lost or back. */
  readonly lostFiles = (problem: string | undefined): void => this.#remote.tell('lost', problem);
}

async function reportOf({ metrics, refusals }: App): Promise<Report> {
  return { figures: await metrics.getMetricsAsJSON(), refusals: refusals() };
}

export interface End {
  /** Its exit code; undefined if a signal ended it or it could not be started. */
  readonly code: number | undefined;
  readonly cause: string;
}

/** A worker as its supervisor sees it. */
export class WorkerProcess {
  readonly #worker: Worker | undefined;
  readonly #remote = new Remote<WorkerFunctions>((message) => {
    // A message to a worker that has gone is lost.
    if (this.#worker?.isConnected()) this.#worker.process.send(message as object, () => undefined);
  });
  #isReady = false;
  readonly #url = new Deferred<string>();
  readonly #ended = new Deferred<End>();
  /** Resolves to the address of the endpoint. */
  readonly ready = this.#url.promise;
  /** Resolves when nothing more can come from the process. */
  readonly ended = this.#ended.promise;
  /** The last report that it sent. */
  lastReport = NO_REPORT;

  /** Starts a worker with these variables added to its environment. */
  constructor(
    environment: Readonly<Record<string, string>>,
    functions: Pick<SupervisorFunctions, 'refusals' | 'lost'>,
  ) {
    const failed = ({ message }: Error) =>
      this.#ended.resolve({ code: undefined, cause: `no process could be started (${message})` });
    this.#remote.serve<SupervisorFunctions>({
      ...functions,
      ready: (url) => {
        this.#isReady = true;
        this.#url.resolve(url);
      },
      leave: (report) => void (this.lastReport = report),
    });
    try {
      this.#worker = cluster.fork({ ...environment });
    } catch (error) {
      failed(error as Error);
      return;
    }
    this.#worker.on('message', this.#remote.receive);
    // Not `disconnect`: Node leaves it out if a signal ends a process in the middle of a message.
    this.#worker.process.once('close', (code: number | null, signal: string | null) => {
      this.#remote.end(new Error('the worker has ended'));
      this.#ended.resolve({ code: code ?? undefined, cause: signal ?? `exit code ${String(code)}` });
    });
    // Without a process there is no close; a message that could not be sent changes nothing.
    this.#worker.on('error', (error) => {
      if (this.pid === undefined) failed(error);
    });
  }

  get pid(): number | undefined {
    return this.#worker?.process.pid;
  }

  /** @throws {Error} the worker hangs, is not ready yet, or has ended. */
  async report(): Promise<Report> {
    const asked = this.#remote.ask('report');
    this.lastReport = await within(asked, REPORT_TIMEOUT, () => new Error('the worker does not answer'));
    return this.lastReport;
  }

  retire(): void {
    this.#remote.tell('retire');
  }

  /** Ends it after its calls in flight. One that is not ready has none, and may not listen to messages yet. */
  stop(): void {
    if (this.#isReady) this.#remote.tell('stop');
    else this.#worker?.process.kill('SIGTERM');
  }

  kill(): void {
    this.#worker?.process.kill('SIGKILL');
  }
}
