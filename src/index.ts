import { startApp, type App } from './app';
import {
  ConfigError,
  eventLogSettings,
  readConfig,
  unknownSettings,
  withAbsolutePaths,
  type Config,
} from './config/config';
import { startProblem } from './config/start-problem';
import type { EventLog } from './log/event-log';
import { openEventLog } from './log/open-event-log';
import { createLogger } from './telemetry/logger';

/** The settings that `docs/configuration.md` describes. They stand here because the package has no other types than these. */
export type SettingName =
  | 'HOST'
  | 'PORT'
  | 'SERVICE_ROOT'
  | 'SERVICE_NAMESPACE'
  | 'BASE_URL'
  | 'TRUST_PROXY'
  | 'PROTOCOLS'
  | 'DOCUMENTATION'
  | 'EVENT_LOG'
  | 'EVENT_LOG_TIMEOUT'
  | 'EVENT_TYPE'
  | 'WEBHOOK_ORIGINS'
  | 'GET_EVENTS_LIMIT'
  | 'GET_EVENTS_MAX_BYTES'
  | 'RETENTION_MAX_EVENTS'
  | 'RETENTION_MAX_AGE'
  | 'ALLOWED_HOSTS'
  | 'RECORD_KEYS'
  | 'RECORD_KEYS_FILE'
  | 'READ_KEYS'
  | 'READ_KEYS_FILE'
  | 'WEBHOOK_SECRETS'
  | 'WEBHOOK_SECRETS_FILE'
  | 'STRIPE_SECRETS'
  | 'STRIPE_SECRETS_FILE'
  | 'SHOPIFY_SECRETS'
  | 'SHOPIFY_SECRETS_FILE'
  | 'SLACK_SECRETS'
  | 'SLACK_SECRETS_FILE'
  | 'GITLAB_TOKENS'
  | 'GITLAB_TOKENS_FILE'
  | 'FORWARD_SECRETS'
  | 'FORWARD_SECRETS_FILE'
  | 'TLS_CERT'
  | 'TLS_KEY'
  | 'TLS_CLIENT_CA'
  | 'MAX_REQUEST_BYTES'
  | 'MAX_HEADER_BYTES'
  | 'HEADERS_TIMEOUT'
  | 'REQUEST_TIMEOUT'
  | 'SEND_TIMEOUT'
  | 'MAX_CONNECTIONS'
  | 'MAX_IN_FLIGHT'
  | 'MAX_WAITING'
  | 'MAX_BODY_MEMORY'
  | 'RATE_LIMIT'
  | 'ADMIN_PORT'
  | 'ADMIN_HOST'
  | 'LOG_LEVEL'
  | 'ACCESS_LOG'
  | 'WORKERS';

/** Settings of the service. What is undefined is not set. */
export type WebHookSettings = { readonly [Name in SettingName]?: string | number | boolean | undefined };

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
  const { log, app } = await start(config).catch(async (cause: unknown) => {
    const problem = await startProblem(cause, config);
    throw problem === undefined ? cause : new Error(problem, { cause });
  });
  let closed: Promise<void> | undefined;
  return {
    url: app.url,
    adminUrl: app.adminUrl,
    close: () => (closed ??= app.close().then(() => log.close())),
  };
}

async function start(config: Config): Promise<{ readonly log: EventLog; readonly app: App }> {
  const log = await openEventLog(config.eventLog, eventLogSettings(config));
  try {
    return { log, app: await startApp(config, log, createLogger(config.log.level)) };
  } catch (error) {
    await log.close();
    throw error;
  }
}

function textsOf(settings: WebHookSettings): Readonly<Record<string, string>> {
  const unknown = unknownSettings(Object.keys(settings));
  if (unknown.size > 0) throw new ConfigError([...unknown.values()].join('\n'));
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [name, String(value)]));
}
