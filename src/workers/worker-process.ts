import cluster, { type Worker } from 'node:cluster';
import type { Registry } from 'prom-client';
import type { Channel } from '../log/engine';
import type { Refusals } from '../telemetry/refused-calls';
import { deferred, type Deferred } from '../util/promises';

/** The figures of one worker, as `prom-client` aggregates them. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Counts and refusals of a worker. */
export interface Report {
  readonly figures: Figures;
  readonly refusals: Refusals['calls'];
  /** Undefined from a worker of a build that does not count them. */
  readonly refusalCounts?: Refusals['counts'];
}

/** A message from a worker to its supervisor. */
export type FromWorker =
  /** It is ready to answer at this absolute address of the endpoint. */
  | { readonly ready: string }
  /** On request, and once more before it ends. */
  | { readonly report: Report }
  /** It wants the refused calls of all workers. */
  | 'refusals of all'
  /** For the writer of the event log. */
  | { readonly log: unknown };

/** A message from the supervisor to a worker. */
export type ToWorker =
  /** To end, because another one has taken its place. */
  | 'retire'
  /** To send its report. */
  | 'report'
  /** The refused calls of all workers. */
  | Pick<Report, 'refusals' | 'refusalCounts'>
  /** From the writer of the event log. */
  | { readonly log: unknown };

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
  /** Sets what collects the refused calls of all workers when the worker wants them; it must not reject. */
  onRefusalsWanted(collect: () => Promise<Refusals>): void;
  /** Says that another worker has taken its place. */
  retire(): void;
  kill(signal: NodeJS.Signals): void;
}

/** Starts a worker with these variables added to its environment. One that cannot be started ends at once. */
export function forkWorker(environment: Readonly<Record<string, string>>): WorkerProcess {
  return new ClusterWorker(environment);
}

/** A worker of `node:cluster`. What is sent to one that has gone is lost. */
class ClusterWorker implements WorkerProcess {
  readonly #worker: Worker | undefined;
  readonly #ready = deferred<string>();
  readonly #ended = deferred<End>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  readonly #closed = deferred();
  readonly closed = this.#closed.promise;
  readonly log: Channel = {
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
  lastReport: Report = { figures: [], refusals: [] };
  #asked: Deferred<Report> | undefined;
  /** The report to request once that one has arrived, which may have been made too early. */
  #next: Promise<Report> | undefined;
  #collectRefusals: (() => Promise<Refusals>) | undefined;
  #logMessage: (message: unknown) => void = () => undefined;

  constructor(environment: Readonly<Record<string, string>>) {
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
    this.#worker.on('message', (message: FromWorker) => {
      this.#received(message);
    });
    this.#worker.once('exit', (code: number | null, signal: string | null) => {
      this.#ended.resolve({ code: code ?? undefined, cause: signal ?? `exit code ${String(code)}` });
    });
    // Not `disconnect`: Node leaves it out where a signal ends a process in the middle of a message.
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

  onRefusalsWanted(collect: () => Promise<Refusals>): void {
    this.#collectRefusals = collect;
  }

  retire(): void {
    this.#send('retire');
  }

  kill(signal: NodeJS.Signals): void {
    this.#worker?.process.kill(signal);
  }

  #received(message: FromWorker): void {
    if (message === 'refusals of all') {
      void this.#collectRefusals?.().then(({ calls, counts }) => {
        this.#send({ refusals: calls, refusalCounts: counts });
      });
    } else if ('log' in message) this.#logMessage(message.log);
    else if ('ready' in message) this.#ready.resolve(message.ready);
    else {
      this.lastReport = message.report;
      this.#asked?.resolve(message.report);
      this.#asked = undefined;
    }
  }

  #send(message: ToWorker, sent: () => void = () => undefined): void {
    if (this.#worker?.isConnected()) this.#worker.process.send(message, sent);
  }
}
