import cluster from 'node:cluster';
import type { IncomingMessage } from 'node:http';
import { eventLogSettings, type Config, type ProcessConfig } from '../config/config';
import { environmentOfWorkers } from '../config/process-config';
import type { Notify } from '../config/service-manager';
import { PROTOCOL } from '../log/engine';
import { plainReason } from '../util/text';
import { exitAfterLines, type Logger } from '../telemetry/logger';
import { createObserver, type Observer } from '../telemetry/observer';
import { Supervisor } from './supervisor';
import { writerFor } from './writer';
import { Reports } from './reports';
import { claimPort } from './claim-port';
import { forkWorker, type WorkerProcess } from './worker-process';
import { adminPages, Readiness, withIndex } from '../http/admin';
import { callersOf, localAuthority, rateLimit, type RateLimit } from '../http/callers';
import { HttpServer } from '../http/server';

/**
 * Runs the service in several processes that share the port, and keeps them running; `announce` is called with the address once
 * the first is ready. SIGTERM and SIGINT end all of them, SIGHUP replaces them without dropping a request. Where an engine has
 * one writer at a time, that is this process, with a thread for it.
 *
 * @throws the public or the admin address, or the event log, cannot be used.
 */
export async function supervise(
  config: ProcessConfig,
  logger: Logger,
  announce: (url: string) => void,
  notify: Notify,
): Promise<void> {
  // Workers accept connections themselves: one that the supervisor hands to a dying worker hangs until its caller gives up.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { eventLog, inherited } = config;
  const log = eventLog.hasOneWriter ? await eventLog.open(eventLogSettings(config)) : undefined;
  cluster.setupPrimary({
    // JSON, the default between processes, has neither NaN nor bytes.
    serialization: 'advanced',
    // A socket of the service manager has its place in a standard of its own (sd_listen_fds).
    stdio: ['inherit', 'inherit', 'inherit', inherited?.fd ?? 'ignore', 'ipc'],
  });
  const reports = new Reports();
  const callers = callersOf(config);
  const addressOf = (request: IncomingMessage) => callers.address(request);
  const observer = createObserver(logger, reports, reports.refusedCalls, addressOf, config.log.access);
  log?.observe({ retained: observer.retained, lost: observer.lost });
  let port = config.port;
  const fork = (): WorkerProcess => {
    const worker = forkWorker(environmentOfWorkers(config, port, PROTOCOL), (closed) => ({
      ...(log && writerFor(log, closed)),
      refusals: () => reports.refusals(),
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
        exitAfterLines(logger, code);
      });
    },
  });
  const adminUrl = await startAdminServer(
    config,
    supervisor,
    reports,
    observer,
    rateLimit(config.limits.rate, addressOf),
  );
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

/**
 * Starts the supervisor's admin server: the health and the metrics of all workers on the admin address. Resolves to that
 * address, if one is configured.
 *
 * @throws the address is in use, or is not one of this machine.
 */
async function startAdminServer(
  config: Config,
  supervisor: Supervisor,
  reports: Reports,
  observer: Observer,
  rate: RateLimit,
): Promise<string | undefined> {
  const { admin, limits } = config;
  if (admin === undefined) return undefined;
  const readiness = new Readiness(async () => {
    if (!supervisor.isReady) throw new Error('No worker is ready.');
    await reports.check();
  });
  const pages = withIndex(adminPages(readiness, reports));
  const server = new HttpServer({ pages, limits, rate, observer });
  const port = await server.listen(admin);
  return `http://${localAuthority(admin.host, port)}/`;
}
