#!/usr/bin/env node
import cluster from 'node:cluster';
import { startApp } from './app';
import { ConfigError, loadConfig, type Config } from './config';
import type { Retention } from './events/event-log';
import { SqliteEventLog } from './events/sqlite-event-log';
import { messageChain } from './asmx/fault';
import { RETIRE, supervise, type WorkerReady } from './workers';

async function main(): Promise<void> {
  const config = loadConfig();
  if (config.workers > 1 && cluster.isPrimary) runWorkers(config.workers);
  else await serve(config);
}

function runWorkers(count: number): void {
  supervise(count, {
    ready: announce,
    lost: (pid, cause) => {
      console.error(`worker ${String(pid)} ended (${cause}); another one takes its place`);
    },
    renewed: (pid) => {
      console.log(`worker ${String(pid)} hands over`);
    },
    renewalFailed: (cause) => {
      console.error(`the workers were not replaced: ${cause}`);
    },
    ended: (code) => process.exit(code),
  });
}

/** For a person, and for a script that waits for it. */
function announce(url: string): void {
  console.log(`WebHook answers at ${url}`);
}

async function serve(config: Config): Promise<void> {
  const log = await SqliteEventLog.open({ file: config.eventLog.file, ...retentionOf(config) });
  const app = await startApp(config, log);

  let stopping = false;
  const stop = (finish: () => Promise<void>): void => {
    if (stopping) return;
    stopping = true;
    console.log('finishing what is in flight');
    finish()
      .then(() => log.close())
      .then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', () => {
    stop(() => app.close());
  });
  process.on('SIGINT', () => {
    stop(() => app.close());
  });
  if (cluster.isPrimary) announce(app.url);
  else {
    process.on('message', (message) => {
      if (message === RETIRE) stop(() => app.handOver());
    });
    process.send?.({ url: app.url } satisfies WorkerReady);
  }
}

function retentionOf({ retentionMaxEvents, retentionMaxAge }: Config): { retention?: Retention } {
  if (retentionMaxEvents === undefined && retentionMaxAge === undefined) return {};
  return { retention: { maxEvents: retentionMaxEvents, maxAge: retentionMaxAge } };
}

/** Tells what went wrong and ends the process with exit code 1. */
function fail(error: unknown): never {
  console.error(error instanceof ConfigError ? `The configuration is wrong.\n${error.message}` : messageChain(error));
  process.exit(1);
}

main().catch(fail);
