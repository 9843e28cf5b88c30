#!/usr/bin/env node
import cluster from 'node:cluster';
import { isIP } from 'node:net';
import { collectDefaultMetrics } from 'prom-client';
import { startApp, type App } from './app';
import { ConfigError, loadConfig, type Config } from './config';
import type { Retention } from './events/event-log';
import { SqliteEventLog } from './events/sqlite-event-log';
import { createLogger, type Logger } from './logger';
import { messageChain } from './message-chain';
import { startSupervisorPages } from './supervisor-pages';
import { beWorker, supervise } from './workers';

async function main(): Promise<void> {
  const config = loadConfig();
  const logger = createLogger(config.log.level);
  if (config.workers > 1 && cluster.isPrimary) await runWorkers(config, logger);
  else await serve(config, logger);
}

/** Answers with this process. */
async function serve(config: Config, logger: Logger): Promise<void> {
  const log = await SqliteEventLog.open({ file: config.eventLog.file, ...retentionOf(config) });
  const app = await startApp(config, log, logger);
  collectDefaultMetrics({ register: app.metrics });

  let stopping = false;
  const stop = (why: string, finish: () => Promise<void>): void => {
    if (stopping) return;
    stopping = true;
    logger.info({ why }, 'stopping');
    finish()
      .then(() => log.close())
      .then(() => {
        logger.info('stopped');
        logger.flush(() => process.exit(0));
      }, fail);
  };
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      stop(signal, () => app.close());
    });
  }
  if (cluster.isPrimary) {
    reloadOnHangUp(config, app, logger);
    announce(app.url);
    warnOfOpenDoors(config, logger);
  } else {
    beWorker(app, (why) => {
      stop(why, () => app.handOver());
    });
  }
  logger.info({ url: app.url, adminUrl: app.adminUrl, eventLog: config.eventLog.file }, 'started');
}

/** Answers with several processes, over which this one watches. */
async function runWorkers(config: Config, logger: Logger): Promise<void> {
  const workers = supervise(config.workers, {
    ready(url) {
      announce(url);
      warnOfOpenDoors(config, logger);
    },
    lost(pid, cause) {
      logger.error({ worker: pid, cause }, 'a worker ended, another one takes its place');
    },
    renewed(pid) {
      logger.info({ worker: pid }, 'a worker hands over');
    },
    renewalFailed(cause) {
      logger.error({ cause }, 'the workers were not replaced');
    },
    ended(code) {
      logger.flush(() => process.exit(code));
    },
  });
  const adminUrl = await startSupervisorPages(config, workers, logger);
  logger.info({ workers: config.workers, adminUrl }, 'supervising');
}

/** For a person, and for a script that waits for it; every other line is JSON. */
function announce(url: string): void {
  console.log(`WebHook answers at ${url}`);
}

function retentionOf({ retentionMaxEvents, retentionMaxAge }: Config): { retention?: Retention } {
  if (retentionMaxEvents === undefined && retentionMaxAge === undefined) return {};
  return { retention: { maxEvents: retentionMaxEvents, maxAge: retentionMaxAge } };
}

/** Whoever reaches an address that is not loopback may call what no key guards. */
function warnOfOpenDoors({ host, access }: Config, logger: Logger): void {
  if (isLoopback(host)) return;
  const { recordKeys, webhookSecrets, readKeys } = access;
  if (recordKeys === undefined && webhookSecrets === undefined)
    logger.warn({ host }, 'anybody who reaches this address may record events: set RECORD_KEYS or WEBHOOK_SECRETS');
  if (readKeys === undefined)
    logger.warn({ host }, 'anybody who reaches this address may read events and metrics: set READ_KEYS');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** On SIGHUP the TLS files are read again; without TLS the signal ends the process, as it does by default. */
function reloadOnHangUp({ tls }: Config, app: App, logger: Logger): void {
  if (tls === undefined) return;
  process.on('SIGHUP', () => {
    app.reloadTls().then(
      () => {
        logger.info(tls, 'TLS files read again');
      },
      (error: unknown) => {
        logger.error({ reason: messageChain(error) }, 'TLS files not usable, those from before stay in use');
      },
    );
  });
}

/** Tells what went wrong and ends the process with exit code 1. */
function fail(error: unknown): never {
  console.error(error instanceof ConfigError ? `The configuration is wrong.\n${error.message}` : messageChain(error));
  process.exit(1);
}

main().catch(fail);
