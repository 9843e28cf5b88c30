#!/usr/bin/env node
import { startApp } from './app';
import { ConfigError, eventLogSettings, loadConfig } from './config';
import { openEventLog } from './events/open-event-log';
import { messageChain } from './message-chain';

async function main(): Promise<void> {
  const config = loadConfig();
  const log = await openEventLog(config.eventLog, eventLogSettings(config));
  const app = await startApp(config, log);
  console.log(`WebHook answers at ${app.url}`);

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    console.log(`${signal}: finishing what is in flight`);
    app
      .close()
      .then(() => log.close())
      .then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Tells what went wrong and ends the process with exit code 1. */
function fail(error: unknown): never {
  console.error(error instanceof ConfigError ? `The configuration is wrong.\n${error.message}` : messageChain(error));
  process.exit(1);
}

main().catch(fail);
