import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** What a worker process tells its supervisor once it answers. */
interface WorkerReady {
  /** Absolute address of the endpoint. */
  readonly url: string;
}

/** What the supervisor tells a worker that another one takes over from. */
const RETIRE = 'retire';

/** A worker that ended sooner than this after its start is replaced after as long, in milliseconds. */
const SHORT_LIFE = 1000;

/** The workers of a supervisor. */
export interface Workers {
  /** Whether at least one of them answers. */
  readonly answer: boolean;
}

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
export function supervise(count: number, events: SupervisorEvents): Workers {
  const supervisor = new Supervisor(count, events);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      supervisor.stop();
    });
  }
  process.on('SIGHUP', () => {
    supervisor.renew();
  });
  return supervisor;
}

/** Makes this process a worker: says that it answers, and hears when another one takes over. */
export function beWorker(
  app: { readonly url: string; readonly metrics: Registry },
  retire: (why: string) => void,
): void {
  AggregatorRegistry.setRegistries([app.metrics]);
  // With this it answers when the supervisor collects metrics.
  new AggregatorRegistry();
  // For the supervisor; whoever sends it to the whole group means no worker.
  process.on('SIGHUP', () => undefined);
  process.on('message', (message) => {
    if (message === RETIRE) retire(RETIRE);
  });
  process.send?.({ url: app.url } satisfies WorkerReady);
}

class Supervisor implements Workers {
  readonly #events: SupervisorEvents;
  readonly #ready = new Set<Worker>();
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

  get answer(): boolean {
    return !this.#stopping && this.#ready.size > 0;
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
      this.#ready.add(fresh);
      this.#ready.delete(old);
      this.#retiring.add(old);
      old.send(RETIRE);
      this.#events.renewed(old.process.pid);
    }
  }

  #start(): void {
    const worker = cluster.fork();
    worker.once('message', (message: unknown) => {
      if (!isReady(message)) return;
      this.#ready.add(worker);
      if (this.#answering) return;
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
    this.#ready.delete(worker);
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
