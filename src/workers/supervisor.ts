import type { Logger } from '../telemetry/logger';
import type { End, WorkerProcess } from './worker-process';

/** How long workers may take, in milliseconds. */
const LIMITS = {
  /** To be ready after their start. */
  start: 60_000,
  /** To end after another one has taken their place: callers get time to come back, and their calls to end. */
  retire: 30_000,
  /** To end after a signal: a little more than the calls in flight get. */
  stop: 15_000,
};

/** A worker that lived for less time than this is replaced after a pause of the same length, in milliseconds. */
const SHORT_LIFE = 1000;

/** The process of a supervisor. */
interface SupervisorOptions {
  /** How many workers there should be. */
  readonly count: number;
  readonly fork: () => WorkerProcess;
  readonly logger: Logger;
  /** Called when the first worker is ready to answer, with the address of the endpoint. */
  readonly ready: (url: string) => void;
  /**
   * Called when all workers have ended and nothing more can come from them: after a signal with exit code 0, otherwise with that of the
   * worker that could not start.
   */
  readonly ended: (code: number) => void;
}

/** One of the workers that there should be: the one that is ready, the one that will be, or both while it is replaced. */
interface Place {
  ready: WorkerProcess | undefined;
  starting: WorkerProcess | undefined;
  /** The outcome of the start: whether the worker became ready. */
  start: Promise<boolean> | undefined;
}

/**
 * Keeps a number of workers running. A worker that ends is replaced. On request it replaces all of them, one after the other: the
 * new one listens before the old one stops, so that no request is dropped.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #logger: Logger;
  readonly #places: readonly Place[];
  readonly #running = new Set<WorkerProcess>();
  #announced = false;
  #stopping = false;
  #exitCode = 0;
  #renewing = false;
  #renewAgain = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#logger = options.logger;
    this.#places = Array.from({ length: options.count }, () => ({
      ready: undefined,
      starting: undefined,
      start: undefined,
    }));
  }

  /** Whether at least one worker is ready to answer. */
  get isReady(): boolean {
    return !this.#stopping && this.#places.some(({ ready }) => ready !== undefined);
  }

  /** Does nothing after {@link stop}. */
  start(): void {
    if (this.#stopping) return;
    for (const place of this.#places) void this.#start(place);
  }

  /** Ends every worker, each after its calls in flight. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const worker of this.#running) {
      worker.kill('SIGTERM');
      this.#killAfter(LIMITS.stop, worker);
    }
    this.#endIfAlone();
  }

  /** Replaces every worker. However often it is asked for while that is under way, it is done once more after it. */
  async renew(): Promise<void> {
    this.#renewAgain = true;
    if (this.#renewing) return;
    this.#renewing = true;
    while (this.#renewAgain && !this.#stopping) {
      this.#renewAgain = false;
      await this.#renewAll();
    }
    this.#renewing = false;
  }

  async #renewAll(): Promise<void> {
    for (const place of this.#places) {
      // One that is starting may have read its files before they changed.
      while (place.start !== undefined) await place.start;
      // One that waits to be started will be new anyway.
      if (this.#stopping || place.ready === undefined) continue;
      if (!(await this.#start(place)) && place.ready !== undefined) return;
    }
  }

  #start(place: Place): Promise<boolean> {
    const worker = this.#options.fork();
    const started = performance.now();
    const timer = this.#killAfter(LIMITS.start, worker);
    this.#running.add(worker);
    place.starting = worker;
    const ready = worker.ready.then((url) => {
      clearTimeout(timer);
      this.#becameReady(place, worker, url);
      return true;
    });
    void worker.closed.then(() => {
      this.#running.delete(worker);
      if (this.#stopping) this.#endIfAlone();
    });
    const ended = worker.ended.then((end) => {
      this.#ended(place, worker, end, performance.now() - started);
      return false;
    });
    place.start = Promise.race([ready, ended]).finally(() => {
      place.start = undefined;
    });
    return place.start;
  }

  #becameReady(place: Place, worker: WorkerProcess, url: string): void {
    if (this.#stopping || place.starting !== worker) return;
    const old = place.ready;
    place.ready = worker;
    place.starting = undefined;
    if (old !== undefined) {
      old.retire();
      this.#killAfter(LIMITS.retire, old);
      this.#logger.info({ worker: old.pid }, 'a worker hands over');
    }
    if (this.#announced) return;
    this.#announced = true;
    this.#options.ready(url);
  }

  #ended(place: Place, worker: WorkerProcess, { code, cause }: End, lived: number): void {
    const wasReady = place.ready === worker;
    const wasStarting = place.starting === worker;
    if (wasReady) place.ready = undefined;
    if (wasStarting) place.starting = undefined;
    if (this.#stopping) return;
    // If one cannot start, none can.
    if (!this.#announced) this.#failToStart(code, cause);
    else if (wasStarting && place.ready !== undefined) this.#logger.error({ cause }, 'the workers were not replaced');
    else if (wasReady || wasStarting) {
      this.#logger.error({ worker: worker.pid, cause }, 'a worker ended, another one takes its place');
      if (place.starting === undefined) this.#startAfter(lived < SHORT_LIFE ? SHORT_LIFE : 0, place);
    }
  }

  #failToStart(code: number | undefined, cause: string): void {
    this.#exitCode = code === undefined || code === 0 ? 1 : code;
    this.#logger.error({ cause }, 'a worker could not start');
    this.stop();
  }

  #endIfAlone(): void {
    if (this.#running.size === 0) this.#options.ended(this.#exitCode);
  }

  #startAfter(pause: number, place: Place): void {
    setTimeout(() => {
      if (!this.#stopping) void this.#start(place);
    }, pause);
  }

  #killAfter(milliseconds: number, worker: WorkerProcess): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#logger.error({ worker: worker.pid }, 'a worker did not end in time and is killed');
      worker.kill('SIGKILL');
    }, milliseconds);
    void worker.ended.then(() => {
      clearTimeout(timer);
    });
    return timer;
  }
}
