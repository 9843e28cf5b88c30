import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { AccessControl } from '../access/access-control';
import { STOP_SIGNALS } from '../util/program';
import { ProcessConfig } from '../config/process-config';
import type { ServiceManager } from '../config/service-manager';
import { AdminPages } from '../http/admin';
import { Proxies } from '../http/proxies';
import { RateLimit } from '../http/rate-limit';
import type { Logger } from '../telemetry/logger';
import { createObserver } from '../telemetry/observer';
import { Secrets } from '../util/secrets';
import { Reports } from './reports';
import { WorkerProcess, type End } from './worker';

/**
 * How long workers may take to be ready, to end after another one has taken their place, and to end with the service, in milliseconds.
 * One that lived for less than `shortLife` is replaced after a pause of the same length.
 */
const LIMITS = { start: 60_000, retire: 30_000, stop: 15_000, shortLife: 1000 };

type SupervisedWorker = Pick<WorkerProcess, 'ready' | 'ended' | 'pid' | 'retire' | 'stop' | 'kill'>;

/**
 * Runs the service in several processes that share the port, and keeps them running; `announce` is called with the address once the
 * first is ready. SIGTERM and SIGINT end all of them, as does a terminal that closes; SIGHUP replaces them without dropping a request.
 *
 * @throws the admin address cannot be used.
 */
export async function supervise(
  config: ProcessConfig,
  logger: Logger,
  announce: (url: string) => void,
  manager: ServiceManager,
): Promise<void> {
  const { admin, limits, log } = config;
  // Workers accept connections themselves: one that the supervisor hands to a dying worker hangs until its caller gives up.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // JSON, the default between processes, has neither NaN nor maps.
  cluster.setupPrimary({ serialization: 'advanced' });
  const reports = new Reports();
  const proxies = new Proxies(config);
  const access = new AccessControl(config, proxies);
  const secrets = new Secrets(AccessControl.secretsIn(config));
  const observer = createObserver(logger, reports.own, (request) => proxies.address(request), log.access, secrets);
  const lost = lostFiles(observer.lost);
  const supervisor = new Supervisor(config.workers, logger, () => {
    const worker = new WorkerProcess(config.environmentOfWorkers, {
      refusals: () => reports.refusals(observer.refusals),
      lost: (problem) => lost(worker, problem),
    });
    reports.add(worker);
    return worker;
  });
  const pages = new AdminPages(() => reports.check(), reports);
  const rate = new RateLimit(limits.rate, proxies);
  const adminServer = admin && (await pages.listen(admin, { limits, rate, observer }, access.checkOperator));
  for (const signal of STOP_SIGNALS) process.on(signal, supervisor.stop);
  const renew = async (): Promise<void> => {
    if (!(await supervisor.renew())) return;
    try {
      const next = ProcessConfig.ofService(() => undefined);
      access.use(next);
      secrets.use(AccessControl.secretsIn(next));
    } catch {
      // Changed since the workers read it. They say what is wrong next time.
    }
  };
  manager.onHangUp(renew, supervisor.stop);
  logger.info({ workers: config.workers, adminUrl: adminServer?.url }, 'supervising');
  await supervisor.start(announce);
}

/** Reports the first loss of the log's files and their last return: each worker notices by itself, and says when it has opened them. */
export function lostFiles(report: (problem: string | undefined) => void) {
  const losers = new Set<unknown>();
  let isLost = false;
  return (worker: Pick<WorkerProcess, 'ended'>, problem: string | undefined): void => {
    if (problem === undefined) losers.delete(worker);
    else losers.add(worker);
    // Its successor reports for itself.
    void worker.ended.then(() => losers.delete(worker));
    if (isLost === losers.size > 0) return;
    isLost = !isLost;
    report(problem);
  };
}

interface Place {
  ready: SupervisedWorker | undefined;
  /** Resolves to undefined once the worker that is starting is ready, or to how it ended before. */
  start: Promise<End | undefined> | undefined;
}

/** Keeps a number of workers running. A new one listens before the one that it replaces stops, so that no request is dropped. */
export class Supervisor {
  readonly #places: readonly Place[];
  readonly #running = new Set<SupervisedWorker>();
  #stopping = false;
  #exitCode = 0;

  constructor(
    count: number,
    private readonly logger: Pick<Logger, 'info' | 'error' | 'exit'>,
    private readonly fork: () => SupervisedWorker,
    private readonly limits = LIMITS,
  ) {
    this.#places = Array.from({ length: count }, () => ({ ready: undefined, start: undefined }));
  }

  /** Starts the first worker, and then the others. If the first cannot start, the process ends with its exit code. */
  async start(announce: (url: string) => void): Promise<void> {
    const [first] = this.#places;
    if (first === undefined) return;
    const end = await this.#startIn(first);
    if (this.#stopping) return;
    if (end !== undefined) {
      this.#exitCode = end.code || 1;
      this.logger.error({ cause: end.cause }, 'a worker could not start');
      this.stop();
      return;
    }
    announce(await (first.ready?.ready ?? ''));
    for (const place of this.#places) void this.#fill(place);
  }

  /** Ends every worker, each after its calls in flight, and then this process. */
  readonly stop = (): void => {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const worker of this.#running) {
      worker.stop();
      this.#killAfter(this.limits.stop, worker);
    }
    this.#exitIfAlone();
  };

  /** Replaces every worker. Resolves to whether none failed. */
  async renew(): Promise<boolean> {
    for (const place of this.#places) {
      // One that is starting may have read its files before they changed.
      while (place.start !== undefined) await place.start;
      if (this.#stopping) continue;
      const end = await this.#startIn(place);
      if (end === undefined) continue;
      if (!this.#stopping) this.logger.error({ cause: end.cause }, 'the workers were not replaced');
      return false;
    }
    return true;
  }

  /** Starts a worker whenever the place has none. */
  async #fill(place: Place): Promise<void> {
    while (!this.#stopping) {
      const { ready } = place;
      const began = performance.now();
      const end = await (ready?.ended ?? place.start ?? this.#startIn(place));
      // A new worker is ready, or the one that ended had been replaced.
      if (end === undefined || place.ready !== ready || this.#stopping) continue;
      place.ready = undefined;
      this.logger.error({ worker: ready?.pid, cause: end.cause }, 'a worker ended, another one takes its place');
      if (performance.now() - began < this.limits.shortLife) await delay(this.limits.shortLife);
    }
  }

  #startIn(place: Place): Promise<End | undefined> {
    const worker = this.fork();
    const timer = this.#killAfter(this.limits.start, worker);
    this.#running.add(worker);
    void worker.ended.then(() => {
      this.#running.delete(worker);
      if (this.#stopping) this.#exitIfAlone();
    });
    const ready = worker.ready.then(() => {
      clearTimeout(timer);
      this.#handOver(place, worker);
      return undefined;
    });
    place.start = Promise.race([ready, worker.ended]).finally(() => (place.start = undefined));
    return place.start;
  }

  #handOver(place: Place, worker: SupervisedWorker): void {
    const old = place.ready;
    place.ready = worker;
    if (old === undefined) return;
    old.retire();
    this.#killAfter(this.limits.retire, old);
    this.logger.info({ worker: old.pid }, 'a worker hands over');
  }

  #exitIfAlone(): void {
    if (this.#running.size === 0) this.logger.exit(this.#exitCode);
  }

  #killAfter(milliseconds: number, worker: SupervisedWorker): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.logger.error({ worker: worker.pid }, 'a worker did not end in time and is killed');
      worker.kill();
    }, milliseconds);
    void worker.ended.then(() => clearTimeout(timer));
    return timer;
  }
}
