import cluster, { type Worker } from 'node:cluster';
import type { Duplex } from 'node:stream';
import { deferred, type Deferred } from '../util/deferred';
import type { RefusedCall } from '../telemetry/refused-calls';
import type { Figures, FromWorker, ToWorker } from './messages';
import { WRITER_DESCRIPTOR } from './worker-descriptors';

/** How a process ended. */
export interface End {
  /** Its exit code; undefined: a signal ended it, or it could not be started. */
  readonly code: number | undefined;
  /** In words for a log line. */
  readonly cause: string;
}

/** A worker as its supervisor sees it. None of its promises rejects. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Leads to the worker, which sends what it records, where it was started with such a pipe. */
  readonly writerPipe: Duplex | undefined;
  /** Resolves to the address of the endpoint when the worker is ready to answer. */
  readonly ready: Promise<string>;
  /** Resolves when the process has ended, or could not be started. */
  readonly ended: Promise<End>;
  /** Resolves after {@link ended}, when nothing more can come from the process. */
  readonly closed: Promise<void>;
  /** The figures that it sent last; undefined: none so far. */
  readonly lastFigures: Figures | undefined;
  /** Asks for the figures of now; resolves when some come, which a process that hangs never sends. */
  figures(): Promise<Figures>;
  /** The refused calls that it sent last. */
  readonly lastRefusals: readonly RefusedCall[];
  /** Asks for the refused calls of now; resolves when some come, which a process that hangs never sends. */
  refusals(): Promise<readonly RefusedCall[]>;
  /** Tells a listener, the only one, when the worker wants the refused calls of all workers. */
  onRefusalsWanted(listener: () => void): void;
  /** Sends it the refused calls of all workers. */
  sendRefusals(calls: readonly RefusedCall[]): void;
  /** Tells it that another worker has taken its place. */
  retire(): void;
  kill(signal: NodeJS.Signals): void;
}

/** Starts a worker with these variables added to its environment. One that cannot be started ends at once. */
export function forkWorker(environment: Readonly<Record<string, string>>): WorkerProcess {
  try {
    return new ClusterWorker(cluster.fork({ ...environment }));
  } catch (error) {
    return new FailedWorker(error as Error);
  }
}

/** A worker of `node:cluster`. Every message to it is sent without regard to whether it is still there to hear it. */
class ClusterWorker implements WorkerProcess {
  readonly #worker: Worker;
  readonly #ready = deferred<string>();
  readonly #ended = deferred<End>();
  readonly closed: Promise<void>;
  readonly #figures = new Question<Figures>(() => {
    this.#send('figures');
  });
  readonly #refusals = new Question<readonly RefusedCall[]>(() => {
    this.#send('refusals');
  });
  #refusalsWanted: () => void = () => undefined;

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

  get writerPipe(): Duplex | undefined {
    // Undefined also where there is no process.
    return this.#worker.process.stdio?.[WRITER_DESCRIPTOR] as Duplex | undefined;
  }

  get ready(): Promise<string> {
    return this.#ready.promise;
  }

  get ended(): Promise<End> {
    return this.#ended.promise;
  }

  get lastFigures(): Figures | undefined {
    return this.#figures.last;
  }

  figures(): Promise<Figures> {
    return this.#figures.ask();
  }

  get lastRefusals(): readonly RefusedCall[] {
    return this.#refusals.last ?? [];
  }

  refusals(): Promise<readonly RefusedCall[]> {
    return this.#refusals.ask();
  }

  onRefusalsWanted(listener: () => void): void {
    this.#refusalsWanted = listener;
  }

  sendRefusals(calls: readonly RefusedCall[]): void {
    this.#send({ refusals: calls });
  }

  retire(): void {
    this.#send('retire');
  }

  kill(signal: NodeJS.Signals): void {
    this.#worker.process.kill(signal);
  }

  #received(message: FromWorker): void {
    if (message === 'refusals of all') this.#refusalsWanted();
    else if ('ready' in message) this.#ready.resolve(message.ready);
    else if ('refusals' in message) this.#refusals.answered(message.refusals);
    else this.#figures.answered(message.figures);
  }

  #send(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.process.send(message, () => undefined);
  }
}

/** A question that a worker answers; whoever asks while it is open gets the same answer. */
class Question<T> {
  readonly #send: () => void;
  #open: Deferred<T> | undefined;
  /** The answer that came last. */
  last: T | undefined;

  constructor(send: () => void) {
    this.#send = send;
  }

  ask(): Promise<T> {
    if (this.#open === undefined) {
      this.#open = deferred<T>();
      this.#send();
    }
    return this.#open.promise;
  }

  /** Takes an answer, also one for which nobody asked. */
  answered(answer: T): void {
    this.last = answer;
    this.#open?.resolve(answer);
    this.#open = undefined;
  }
}

/** A worker for which the system had no process. */
class FailedWorker implements WorkerProcess {
  readonly pid = undefined;
  readonly writerPipe = undefined;
  readonly ready = new Promise<string>(() => undefined);
  readonly ended: Promise<End>;
  readonly closed = Promise.resolve();
  readonly lastFigures = undefined;
  readonly lastRefusals = [];

  constructor(error: Error) {
    this.ended = Promise.resolve(notStarted(error));
  }

  figures(): Promise<Figures> {
    return Promise.resolve([]);
  }

  refusals(): Promise<readonly RefusedCall[]> {
    return Promise.resolve([]);
  }

  onRefusalsWanted(): void {
    // There is no process.
  }

  sendRefusals(): void {
    // There is no process.
  }

  retire(): void {
    // There is no process.
  }

  kill(): void {
    // There is no process.
  }
}

function notStarted(error: Error): End {
  return { code: undefined, cause: `no process could be started (${error.message})` };
}
