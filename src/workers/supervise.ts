import cluster from 'node:cluster';
import type { ProcessConfig } from '../config/process-config';
import type { ServiceManager } from '../config/service-manager';
import { PROTOCOL } from '../log/engine';
import { plainReason } from '../util/text';
import type { Logger } from '../telemetry/logger';
import { Observer } from '../telemetry/observer';
import { Supervisor } from './supervisor';
import { writerFor } from './writer';
import { Reports } from './reports';
import { claimPort } from './claim-port';
import { forkWorker, type WorkerProcess } from './worker-process';
import { AdminPages } from '../http/admin';
import { Callers } from '../http/callers';
import { RateLimit } from '../http/rate-limit';

/**
 * Runs the service in several processes that share the port, and keeps them running; `announce` is called with the address once
 * the first is ready. SIGTERM and SIGINT end all of them, SIGHUP replaces them without dropping a request. If an engine has
 * one writer at a time, that is this process, with a thread for it.
 *
 * @throws the public or the admin address, or the event log, cannot be used.
 */
export async function supervise(
  config: ProcessConfig,
  logger: Logger,
  announce: (url: string) => void,
  manager: ServiceManager,
): Promise<void> {
  // Workers accept connections themselves: one that the supervisor hands to a dying worker hangs until its caller gives up.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { eventLog } = config;
  const log = eventLog.hasOneWriter ? await eventLog.open(config.eventLogSettings) : undefined;
  cluster.setupPrimary({
    // JSON, the default between processes, has neither NaN nor bytes.
    serialization: 'advanced',
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const reports = new Reports();
  const callers = new Callers(config);
  const observer = new Observer(logger, reports.own, (request) => callers.address(request), config.log.access);
  log?.observe({ retained: observer.retained, lost: observer.lost });
  let port = config.port;
  const fork = (): WorkerProcess => {
    const worker = forkWorker(config.environmentOfWorkers(port, PROTOCOL), (closed) => ({
      ...(log && writerFor(log, closed)),
      refusals: () => reports.refusals(observer.refusals),
    }));
    reports.add(worker);
    return worker;
  };
  const supervisor = new Supervisor({
    count: config.workers,
    fork,
    logger,
    ready: announce,
    ended(code) {
      const closed = Promise.resolve(log?.close()).catch((error: unknown) => {
        logger.error({ reason: plainReason(error) }, 'the log was not closed');
      });
      void closed.then(() => {
        logger.exit(code);
      });
    },
  });
  const pages = new AdminPages(async () => {
    if (!supervisor.isReady) throw new Error('No worker is ready.');
    await reports.check();
  }, reports);
  const { admin, limits } = config;
  const rate = new RateLimit(limits.rate, callers);
  const adminServer = admin && (await pages.listen(admin, { limits, rate, observer }));
  port = await claimPort(config);
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      supervisor.stop();
    });
  }
  process.on('SIGHUP', () => {
    manager.notify('RELOADING=1');
    void supervisor.renew().then(() => {
      manager.notify('READY=1');
    });
  });
  supervisor.start();
  logger.info({ workers: config.workers, adminUrl: adminServer?.url }, 'supervising');
}
