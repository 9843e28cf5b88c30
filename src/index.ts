import { startApp } from './app';
import { ConfigError, eventLogSettings, readConfig, withAbsolutePaths } from './config/config';
import { variablesOf } from './config/variable';
import { VARIABLES } from './config/variables';
import { openEventLog } from './log/open-event-log';
import { createLogger } from './telemetry/logger';

/** Settings of the service by the names of `docs/configuration.md`, such as `PORT`. What is undefined is not set. */
export type WebHookSettings = Readonly<Record<string, string | number | boolean | undefined>>;

/** A WebHook service that answers. */
export interface WebHook {
  /** Absolute address of the endpoint on this machine. */
  readonly url: string;
  /** Absolute address of the health and metrics pages, where `ADMIN_PORT` gives them one of their own. */
  readonly adminUrl: string | undefined;
  /** Finishes the calls in progress, takes no new ones, and closes the event log. However often it is called, it does so once. */
  close(): Promise<void>;
}

/**
 * Starts the service in this process. Neither environment variables nor an `.env` file count, and nothing is logged unless
 * `LOG_LEVEL` says so. Relative paths are relative to the working directory.
 *
 * @throws an error whose message says what to change: a setting is wrong or unknown, the event log cannot be opened, or the address
 * cannot be listened on. Then nothing stays open.
 */
export async function createWebHook(settings: WebHookSettings = {}): Promise<WebHook> {
  const config = withAbsolutePaths(readConfig({ LOG_LEVEL: 'silent', ...textsOf(settings) }));
  if (config.workers !== 1) throw new ConfigError('WORKERS must be 1 here: asmx-webhook runs several processes.');
  const logger = createLogger(config.log.level);
  const log = await openEventLog(config.eventLog, eventLogSettings(config));
  const app = await startApp(config, log, logger).catch(async (error: unknown) => {
    await log.close();
    throw error;
  });
  let closed: Promise<void> | undefined;
  return {
    url: app.url,
    adminUrl: app.adminUrl,
    close: () => (closed ??= app.close().then(() => log.close())),
  };
}

function textsOf(settings: WebHookSettings): Readonly<Record<string, string>> {
  const known = new Set(
    variablesOf(VARIABLES).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  const unknown = Object.keys(settings).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new ConfigError(unknown.map((name) => `${name}: there is no such setting.`).join('\n'));
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
}
