import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';

/** What a worker process tells its supervisor once it answers. */
export interface WorkerReady {
  /** Absolute address of the endpoint. */
  readonly url: string;
}

/** What the supervisor tells a worker that another one takes over from. */
export const RETIRE = 'retire';

/** A worker that ended sooner than this after its start is replaced after as long, in milliseconds. */
const SHORT_LIFE = 1000;

/** What the supervisor has to say to the operator. */
export interface SupervisorEvents {
  /** The first worker answers. */
  ready(url: string): void;
  /** A worker ended by itself and is replaced. */
  lost(pid: number | undefined, cause: string): void;
  /** A worker was replaced by a fresh one on request. */
  renewed(pid: number | undefined): void;
  /** A fresh worker did not start; the old ones go on. */
  renewalFailed(cause: string): void;
  /** Everything has ended: with exit code 0 after a signal, otherwise with that of the worker that could not start. */
  ended(code: number): void;
}

/**
 * Runs the service in several processes that share the port, one for each core that it may use. A worker that ends is
 * replaced. SIGTERM and SIGINT end all of them, each after what it has in flight. SIGHUP replaces them one after the other:
 * the next starts before the one before it stops to listen, so that no request is dropped.
 */
export function supervise(count: number, events: SupervisorEvents): void {
  const supervisor = new Supervisor(count, events);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      supervisor.stop();
    });
  }
  process.on('SIGHUP', () => {
    supervisor.renew();
  });
}

class Supervisor {
  readonly #events: SupervisorEvents;
  readonly #retiring = new Set<Worker>();
  #answering = false;
  #stopping = false;
  #exitCode = 0;
  #renewal = Promise.resolve();

  constructor(count: number, events: SupervisorEvents) {
    this.#events = events;
    // Each worker accepts for itself: a connection that the supervisor hands to one that dies hangs until its caller gives up.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    for (let i = 0; i < count; i++) this.#start();
  }

  stop(): void {
    this.#stopping = true;
    for (const worker of workers()) worker.process.kill('SIGTERM');
    if (workers().length === 0) this.#events.ended(this.#exitCode);
  }

  /** Replaces every worker; a request while that is under way is done after it. */
  renew(): void {
    this.#renewal = this.#renewal.then(() => this.#renewAll());
  }

  async #renewAll(): Promise<void> {
    for (const old of workers()) {
      if (this.#stopping || this.#retiring.has(old) || old.isDead()) continue;
      const fresh = cluster.fork();
      const [message] = (await Promise.race([once(fresh, 'message'), once(fresh, 'exit')])) as unknown[];
      if (!isReady(message)) {
        this.#events.renewalFailed('a fresh worker ended before it answered');
        return;
      }
      this.#watch(fresh, performance.now());
      this.#retiring.add(old);
      old.send(RETIRE);
      this.#events.renewed(old.process.pid);
    }
  }

  #start(): void {
    const worker = cluster.fork();
    worker.once('message', (message: unknown) => {
      if (this.#answering || !isReady(message)) return;
      this.#answering = true;
      this.#events.ready(message.url);
    });
    this.#watch(worker, performance.now());
  }

  #watch(worker: Worker, started: number): void {
    worker.once('exit', (code: number | null, signal: string | null) => {
      this.#ended(worker, code, signal, performance.now() - started);
    });
  }

  #ended(worker: Worker, code: number | null, signal: string | null, lived: number): void {
    if (!this.#answering && !this.#stopping) {
      // It cannot start, and so no other one can: it has said why.
      this.#exitCode = code ?? 1;
      this.stop();
    } else if (this.#stopping) {
      if (workers().length === 0) this.#events.ended(this.#exitCode);
    } else if (!this.#retiring.delete(worker)) {
      this.#events.lost(worker.process.pid, signal ?? `exit code ${String(code)}`);
      setTimeout(
        () => {
          if (!this.#stopping) this.#start();
        },
        lived < SHORT_LIFE ? SHORT_LIFE : 0,
      );
    }
  }
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function isReady(message: unknown): message is WorkerReady {
  return typeof message === 'object' && message !== null && 'url' in message;
}
