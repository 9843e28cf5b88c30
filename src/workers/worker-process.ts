import cluster, { type Worker } from 'node:cluster';
import type { Channel } from '../log/engine';
import type { Refusals } from '../telemetry/refused-calls';
import { deferred, type Deferred } from '../util/promises';
import type { FromWorker, Report, ToWorker } from './messages';

/** How a process ended. */
export interface End {
  /** Its exit code; undefined where a signal ended it or it could not be started. */
  readonly code: number | undefined;
  /** In words for a log line. */
  readonly cause: string;
}

/** A worker as its supervisor sees it. None of its promises rejects. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Leads to the worker's event log. */
  readonly log: Channel;
  /** Resolves to the address of the endpoint when the worker is ready to answer. */
  readonly ready: Promise<string>;
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<End>;
  /** Resolves after {@link ended}, when nothing more can come from the process. */
  readonly closed: Promise<void>;
  /** The last report that it sent. */
  readonly lastReport: Report;
  /** Asks for a fresh report, never one that was requested earlier. A process that hangs never sends one. */
  report(): Promise<Report>;
  /** Calls the listener, the only one, when the worker wants the refused calls of all workers. */
  onRefusalsWanted(listener: () => void): void;
  /** Sends it the refused calls of all workers. */
  sendRefusals(refusals: Refusals): void;
  /** Tells it that another worker has taken its place. */
  retire(): void;
  kill(signal: NodeJS.Signals): void;
}

const NO_REPORT: Report = { figures: [], refusals: [] };

/** Starts a worker with these variables added to its environment. One that cannot be started ends at once. */
export function forkWorker(environment: Readonly<Record<string, string>>): WorkerProcess {
  try {
    return new ClusterWorker(cluster.fork({ ...environment }));
  } catch (error) {
    return new FailedWorker(error as Error);
  }
}

/** A worker of `node:cluster`. What is sent to one that has gone is lost. */
class ClusterWorker implements WorkerProcess {
  readonly #worker: Worker;
  readonly #ready = deferred<string>();
  readonly #ended = deferred<End>();
  readonly closed: Promise<void>;
  #asked: Deferred<Report> | undefined;
  /** The report to request once that one has arrived, which may have been made too early. */
  #next: Promise<Report> | undefined;
  #lastReport = NO_REPORT;
  #refusalsWanted: () => void = () => undefined;
  #logMessage: (message: unknown) => void = () => undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (message: FromWorker) => {
      this.#received(message);
    });
    worker.once('exit', (code: number | null, signal: string | null) => {
      this.#ended.resolve({ code: code ?? undefined, cause: signal ?? `exit code ${String(code)}` });
    });
    const disconnected = new Promise<void>((resolve) => {
      worker.once('disconnect', resolve);
      // Without a process there is neither exit nor disconnect; a message that could not be sent changes nothing.
      worker.on('error', (error) => {
        if (this.pid !== undefined) return;
        this.#ended.resolve(notStarted(error));
        resolve();
      });
    });
    this.closed = Promise.all([this.#ended.promise, disconnected]).then(() => undefined);
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  get log(): Channel {
    return {
      send: (message, sent) => {
        this.#send({ log: message }, sent);
      },
      onMessage: (listener) => {
        this.#logMessage = listener;
      },
      onClose: (listener) => {
        void this.closed.then(listener);
      },
    };
  }

  get ready(): Promise<string> {
    return this.#ready.promise;
  }

  get ended(): Promise<End> {
    return this.#ended.promise;
  }

  get lastReport(): Report {
    return this.#lastReport;
  }

  report(): Promise<Report> {
    if (this.#asked === undefined) {
      this.#asked = deferred<Report>();
      this.#send('report');
      return this.#asked.promise;
    }
    this.#next ??= this.#asked.promise.then(() => {
      this.#next = undefined;
      return this.report();
    });
    return this.#next;
  }

  onRefusalsWanted(listener: () => void): void {
    this.#refusalsWanted = listener;
  }

  sendRefusals({ calls, counts }: Refusals): void {
    this.#send({ refusals: calls, refusalCounts: counts });
  }

  retire(): void {
    this.#send('retire');
  }

  kill(signal: NodeJS.Signals): void {
    this.#worker.process.kill(signal);
  }

  #received(message: FromWorker): void {
    if (message === 'refusals of all') this.#refusalsWanted();
    else if ('log' in message) this.#logMessage(message.log);
    else if ('ready' in message) this.#ready.resolve(message.ready);
    else {
      this.#lastReport = message.report;
      this.#asked?.resolve(message.report);
      this.#asked = undefined;
    }
  }

  #send(message: ToWorker, sent: () => void = () => undefined): void {
    if (this.#worker.isConnected()) this.#worker.process.send(message, sent);
  }
}

/** A worker for which the system had no process. */
class FailedWorker implements WorkerProcess {
  readonly pid = undefined;
  readonly log: Channel = { send: nothing, onMessage: nothing, onClose: nothing };
  readonly ready = new Promise<string>(nothing);
  readonly ended: Promise<End>;
  readonly closed = Promise.resolve();
  readonly lastReport = NO_REPORT;
  readonly report = () => Promise.resolve(NO_REPORT);
  readonly onRefusalsWanted = nothing;
  readonly sendRefusals = nothing;
  readonly retire = nothing;
  readonly kill = nothing;

  constructor(error: Error) {
    this.ended = Promise.resolve(notStarted(error));
  }
}

function nothing(): void {
  // There is no process.
}

function notStarted(error: Error): End {
  return { code: undefined, cause: `no process could be started (${error.message})` };
}
