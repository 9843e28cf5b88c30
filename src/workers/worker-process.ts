import cluster, { type Worker } from 'node:cluster';
import { EventLogError } from '../log/event-log';
import { Deferred } from '../util/promises';
import { Remote } from '../util/remote';
import type { Report, SupervisorFunctions, WorkerFunctions } from './protocol';

/** How a process ended. */
export interface End {
  /** Its exit code; undefined if a signal ended it or it could not be started. */
  readonly code: number | undefined;
  /** In words for a log line. */
  readonly cause: string;
}

/** A worker as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Resolves to the address of the endpoint when the worker is ready to answer. */
  readonly ready: Promise<string>;
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<End>;
  /** Resolves after {@link ended}, when nothing more can come from the process. */
  readonly closed: Promise<void>;
  /** The last report that it sent. */
  readonly lastReport: Report;
  /**
   * Asks for a fresh report, never one that was requested earlier. A process that hangs never sends one.
   *
   * @throws {Error} the worker is not ready yet.
   */
  report(): Promise<Report>;
  /** Says that another worker has taken its place. */
  retire(): void;
  kill(signal: NodeJS.Signals): void;
}

/** Returns what the supervisor does for a worker until that has `closed`, besides minding its process. */
type FunctionsFor = (closed: Promise<void>) => Partial<Omit<SupervisorFunctions, 'ready' | 'leave'>>;

/** Starts a worker with these variables added to its environment. One that cannot be started ends at once. */
export function forkWorker(environment: Readonly<Record<string, string>>, functions: FunctionsFor): WorkerProcess {
  return new ClusterWorker(environment, functions);
}

/** A worker of `node:cluster`. */
class ClusterWorker implements WorkerProcess {
  readonly #worker: Worker | undefined;
  readonly #remote = new Remote<WorkerFunctions>((message) => {
    this.#send(message);
  }, reasonOf);
  readonly #ready = new Deferred<string>();
  readonly #ended = new Deferred<End>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  readonly #closed = new Deferred();
  readonly closed = this.#closed.promise;
  lastReport: Report = { figures: [], refusals: [] };
  #asked: Promise<Report> | undefined;
  /** The report to request once that one has arrived, which may have been made too early. */
  #next: Promise<Report> | undefined;

  constructor(environment: Readonly<Record<string, string>>, functions: FunctionsFor) {
    const failed = (error: Error) => {
      this.#ended.resolve({ code: undefined, cause: `no process could be started (${error.message})` });
      this.#closed.resolve();
    };
    try {
      this.#worker = cluster.fork({ ...environment });
    } catch (error) {
      failed(error as Error);
      return;
    }
    this.#remote.serve<Partial<SupervisorFunctions>>({
      ...functions(this.closed),
      ready: this.#ready.resolve,
      leave: (report) => {
        this.lastReport = report;
      },
    });
    this.#worker.on('message', (message) => {
      this.#remote.receive(message);
    });
    this.#worker.once('exit', (code: number | null, signal: string | null) => {
      this.#ended.resolve({ code: code ?? undefined, cause: signal ?? `exit code ${String(code)}` });
    });
    // Not `disconnect`: Node leaves it out if a signal ends a process in the middle of a message.
    this.#worker.process.once('close', this.#closed.resolve);
    // Without a process there is neither exit nor close; a message that could not be sent changes nothing.
    this.#worker.on('error', (error) => {
      if (this.pid === undefined) failed(error);
    });
  }

  get pid(): number | undefined {
    return this.#worker?.process.pid;
  }

  report(): Promise<Report> {
    if (this.#asked === undefined) {
      this.#asked = this.#ask();
      return this.#asked;
    }
    const again = (): Promise<Report> => {
      this.#next = undefined;
      return this.report();
    };
    this.#next ??= this.#asked.then(again, again);
    return this.#next;
  }

  async #ask(): Promise<Report> {
    try {
      this.lastReport = await this.#remote.ask('report');
      return this.lastReport;
    } finally {
      this.#asked = undefined;
    }
  }

  retire(): void {
    this.#remote.tell('retire');
  }

  kill(signal: NodeJS.Signals): void {
    this.#worker?.process.kill(signal);
  }

  /** A message to a worker that has gone is lost. */
  #send(message: unknown): void {
    if (this.#worker?.isConnected()) this.#worker.process.send(message as object, () => undefined);
  }
}

/** Returns the part of an error that its worker needs: the worker's log says itself that an event could not be recorded. */
export function reasonOf(error: unknown): string {
  const reason = error instanceof EventLogError ? (error.cause ?? error) : error;
  return (reason as Error).message;
}
