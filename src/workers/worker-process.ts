import cluster, { type Worker } from 'node:cluster';
import { Deferred, within } from '../util/promises';
import { Remote } from '../util/remote';
import { NO_REPORT, type Report, type SupervisorFunctions, type WorkerFunctions } from './worker';

/** How long a worker may take to send its report, in milliseconds. */
const REPORT_TIMEOUT = 1000;

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
  readonly #url = new Deferred<string>();
  readonly #ended = new Deferred<End>();
  /** Resolves to the address of the endpoint. */
  readonly ready = this.#url.promise;
  /** Resolves when nothing more can come from the process. */
  readonly ended = this.#ended.promise;
  /** The last report that it sent. */
  lastReport = NO_REPORT;

  /** Starts a worker with these variables added to its environment. */
  constructor(environment: Readonly<Record<string, string>>, refusals: SupervisorFunctions['refusals']) {
    const failed = (error: Error) => {
      this.#ended.resolve({ code: undefined, cause: `no process could be started (${error.message})` });
    };
    this.#remote.serve<SupervisorFunctions>({
      refusals,
      ready: (url) => {
        this.#url.resolve(url);
      },
      leave: (report) => {
        this.lastReport = report;
      },
    });
    try {
      this.#worker = cluster.fork({ ...environment });
    } catch (error) {
      failed(error as Error);
      return;
    }
    this.#worker.on('message', (message) => {
      this.#remote.receive(message);
    });
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

  kill(signal: NodeJS.Signals): void {
    this.#worker?.process.kill(signal);
  }
}
