import cluster from 'node:cluster';
import type { Config } from '../config/config';
import { environmentOfInherited } from '../config/service-manager/inherited-sockets';
import type { Notify } from '../config/service-manager/notify';
import type { Logger } from '../telemetry/logger';
import { startAdminServer } from './admin-server';
import { claimPort } from './claim-port';
import { Supervisor } from './supervisor';
import { WorkerMetrics } from './worker-metrics';
import { WorkerRefusals } from './worker-refusals';
import { forkWorker } from './worker-process';

/**
 * Runs the service in several processes that share the port, and keeps them running; `announce` is called with the address once
 * the first is ready. SIGTERM and SIGINT end all of them, SIGHUP replaces them without dropping a request.
 *
 * @throws the public or the admin address cannot be used.
 */
export async function supervise(
  config: Config,
  logger: Logger,
  announce: (url: string) => void,
  notify: Notify,
): Promise<void> {
  // Workers accept connections themselves: one that the supervisor hands to a dying worker hangs until its caller gives up.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { inherited } = config;
  cluster.setupPrimary({
    // JSON, the default between processes, has no NaN.
    serialization: 'advanced',
    // A socket of the service manager comes to each worker as its descriptor 3. This process keeps its own.
    stdio: ['inherit', 'inherit', 'inherit', ...(inherited === undefined ? [] : [inherited.fd]), 'ipc'],
  });
  const metrics = new WorkerMetrics();
  const refusals = new WorkerRefusals();
  let port = config.port;
  const fork = () => forkWorker(inherited === undefined ? { PORT: String(port) } : environmentOfInherited());
  const supervisor = new Supervisor(config.workers, fork, {
    started(worker) {
      metrics.add(worker);
      refusals.add(worker);
    },
    ready: announce,
    lost(pid, cause) {
      logger.error({ worker: pid, cause }, 'a worker ended, another one takes its place');
    },
    renewed(pid) {
      logger.info({ worker: pid }, 'a worker hands over');
    },
    renewalFailed(cause) {
      logger.error({ cause }, 'the workers were not replaced');
    },
    startFailed(cause) {
      logger.error({ cause }, 'a worker could not start');
    },
    killed(pid) {
      logger.error({ worker: pid }, 'a worker did not end in time and is killed');
    },
    ended(code) {
      logger.flush(() => process.exit(code));
    },
  });
  const adminUrl = await startAdminServer(config, supervisor, metrics, logger);
  if (inherited === undefined) port = await claimPort(config);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      supervisor.stop();
    });
  }
  process.on('SIGHUP', () => {
    notify('RELOADING=1');
    void supervisor.renew().then(() => {
      notify('READY=1');
    });
  });
  supervisor.start();
  logger.info({ workers: config.workers, adminUrl }, 'supervising');
}
