import { executionAsyncResource } from 'node:async_hooks';
import cluster from 'node:cluster';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { startApp } from './app';
import type { Config } from './config/config';
import { ProcessConfig } from './config/process-config';
import { ConfigError } from './config/variable';
import { AccessControl } from './access/access-control';
import { ServiceManager } from './config/service-manager';
import { plainReason } from './util/errors';
import { BUILD, STOP_SIGNALS } from './util/program';
import { createLogger, type Logger } from './telemetry/logger';

/** Runs the service as the environment says, in this process or, with WORKERS, in several. Rejects if it cannot start. */
export async function runService(): Promise<void> {
  // By default the heap grows to several times what is in use before garbage is collected.
  setFlagsFromString('--heap-growing-percent=30');
  // Node 24 takes small buffers from pools of 64 KiB, and one buffer keeps its whole pool: a caller that waits would hold four times as much.
  Buffer.poolSize = 8192;
  keepNextTickFast();
  // A line that cannot be printed must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const warnings: string[] = [];
  const config = ProcessConfig.ofService((warning) => warnings.push(warning));
  const logger = createLogger(config.log.level);
  const { eventLog } = config;
  const manager = new ServiceManager((reason) => logger.warn({ reason }, 'the service manager could not be notified'));
  const isNewLog = eventLog.isMissing?.() === true;
  const announce = (url: string): void => {
    // For people, and for scripts that wait for it; every other line is JSON.
    console.log(`WebHook answers at ${url}`);
    if (isNewLog) logger.warn(`New, empty log made at ${eventLog.name}`);
    for (const warning of [eventLog.warning?.(), ...warnings]) if (warning !== undefined) logger.warn(warning);
    for (const warning of AccessControl.warningsFor(config)) logger.warn({ host: config.host }, warning);
    manager.notify('READY=1');
    for (const signal of STOP_SIGNALS) process.once(signal, () => manager.notify('STOPPING=1'));
  };
  if (config.workers === 1) await runAlone(config, logger, announce, manager);
  else if (cluster.isWorker) await runWorker(config, logger);
  else await (await import('./workers/supervisor.js')).supervise(config, logger, announce, manager);
}

async function runAlone(
  config: ProcessConfig,
  logger: Logger,
  announce: (url: string) => void,
  manager: ServiceManager,
): Promise<void> {
  const service = await startService(config, logger);
  const { log, app } = service;
  const stop = stopOnSignals(app, logger, () => log.close());
  manager.onHangUp(
    () => reload(config, service, logger),
    () => stop('SIGHUP'),
  );
  announce(app.url);
  logStart(app, config, logger);
}

/**
 * Keeps one of the objects that `process.nextTick` makes. A garbage collection that finds none forgets their shape, and from then on V8
 * makes them four times slower, for good: 0.7 µs of a call.
 */
function keepNextTickFast(): void {
  process.nextTick(() => {
    const resource = executionAsyncResource();
    process.once('exit', () => resource);
  });
}

/** How long an idle connection stays open for its next call when another worker takes over, in milliseconds. */
const HANDOVER_TIMEOUT = 5000;

async function runWorker(config: ProcessConfig, logger: Logger): Promise<void> {
  const { SupervisorProcess } = await import('./workers/worker.js');
  const supervisor = new SupervisorProcess();
  const { log, app } = await startService(config, logger, supervisor);
  const stop = stopOnSignals(app, logger, async () => {
    await supervisor.leave(app);
    await log.close();
  });
  logStart(app, config, logger);
  supervisor.join(app, {
    stop: () => stop('stop'),
    async retire() {
      try {
        // A caller whose access was revoked must not go on using a connection that is open.
        await app.reload(ProcessConfig.ofService(() => undefined));
      } catch {
        // The settings changed again; the new process has read valid ones.
      }
      stop('retire', HANDOVER_TIMEOUT);
    },
  });
}

type RunningService = Awaited<ReturnType<typeof startService>>;
type App = RunningService['app'];
type AppSupervisor = Parameters<typeof startApp>[3];

/** Loads the service only here: a supervisor, `--help` and a wrong configuration do without it, and start in half the time. */
async function startService(config: Config, logger: Logger, supervisor?: AppSupervisor) {
  const { eventLog, eventLogSettings } = config;
  // Later workers use the file of the first (other logs have no `isMissing`): if its folder is moved away, none is made in its place.
  const isSuccessor = (cluster.worker?.id ?? 1) > 1 && eventLog.isMissing !== undefined;
  const opening = eventLog.open({ ...eventLogSettings, create: !isSuccessor });
  // Awaited below; until then a failure must not end the process.
  opening.catch(() => undefined);
  // The database thread starts while this one loads the rest.
  await nextTurn();
  const { startApp: start } = await import('./app.js');
  const { collectDefaultMetrics } = await import('prom-client');
  const log = await opening;
  const app = await start(config, log, logger, supervisor);
  collectDefaultMetrics({ register: app.metrics });
  return { log, app };
}

function logStart({ url, adminUrl }: App, { eventLog, off }: Config, logger: Logger): void {
  const { version, commit } = BUILD;
  logger.info({ version, commit, url, adminUrl, eventLog: eventLog.name, ...(off.length > 0 && { off }) }, 'started');
}

/** Stops this process on a signal, with exit code 0. Returns a function that stops it for another reason, as {@link App.close} does. */
function stopOnSignals(app: App, logger: Logger, cleanUp: () => Promise<void>) {
  let stopping = false;
  const stop = (why: string, idleTimeout?: number): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ why }, 'stopping');
    app
      .close(idleTimeout)
      .then(cleanUp)
      .then(() => {
        logger.info('stopped');
        logger.exit(0);
      }, fail);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(signal));
  return stop;
}

/** Reads the settings again. If they cannot be used, a log line says why, and nothing changes. */
export async function reload(
  config: ProcessConfig,
  { app, log }: { app: Pick<App, 'reload'>; log: Pick<RunningService['log'], 'retain'> },
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<void> {
  try {
    const next = ProcessConfig.ofService((warning) => logger.warn(warning));
    await app.reload(next);
    const needRestart = ProcessConfig.needRestart(config, next, log.retain(next.eventLogSettings.retention));
    for (const warning of AccessControl.warningsFor(next)) logger.warn({ host: config.host }, warning);
    logger.info({ ...next.tls, ...(needRestart.length > 0 && { needRestart }) }, 'settings read again');
  } catch (error) {
    logger.error({ reason: plainReason(error) }, 'settings not usable, those from before stay in use');
  }
}

/** Prints what went wrong, and ends the process with exit code 1. */
export function fail(problem: unknown): never {
  const text = plainReason(problem);
  console.error(problem instanceof ConfigError ? `The configuration is wrong.\n${text}` : text);
  process.exit(1);
}
