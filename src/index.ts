import { setMaxListeners } from 'node:events';
import { startApp } from './app';
import type { Config } from './config/config';
import { ProcessConfig, type WebHookSettings } from './config/process-config';
import { ConfigError as SettingsError } from './config/variable';
import { positionIn, StoredEvent } from './events/stored-event';
import { CloudEventError as NoCloudEvent } from './events/cloudevents/attributes';
import { EventFactory } from './events/event';
import { EventLogError as LogError } from './log/engine';
import type { EventLog } from './log/event-log';
import { createLogger } from './telemetry/logger';
import { plainReason } from './util/errors';

export type { WebHookSettings };

/** A class of errors: `instanceof`, or the `code`, tells a program what went wrong. */
type ErrorClass<Code extends string> = abstract new (...values: never) => Error & { readonly code: Code };

/** A setting is wrong or unknown. */
export const ConfigError: ErrorClass<'ERR_WEBHOOK_CONFIG'> = SettingsError;
/** The event log cannot be opened, read or written. */
export const EventLogError: ErrorClass<'ERR_WEBHOOK_EVENT_LOG'> = LogError;
/** An event to be recorded is not a valid CloudEvent. */
export const CloudEventError: ErrorClass<'ERR_WEBHOOK_CLOUD_EVENT'> = NoCloudEvent;

/** A CloudEvent 1.0 in the JSON format. Extensions are attributes with names of their own. */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** RFC 3339. */
  readonly time?: string | undefined;
  readonly subject?: string | undefined;
  readonly datacontenttype?: string | undefined;
  readonly dataschema?: string | undefined;
  /** A JSON value, as `JSON.parse` reads it. */
  readonly data?: unknown;
  /** Bytes in base64, in place of `data`. */
  readonly data_base64?: string | undefined;
  readonly [extension: string]: unknown;
}

/** An event of the log. */
export interface RecordedEvent extends CloudEvent {
  /** Position in the log: 20 digits, so that text order is log order. Grows, and is never used twice. */
  readonly sequence: string;
}

/** A position in the log: the `sequence` of an event; 0 is before the first. */
export type Position = string | number | bigint;

/** The events of the service. No key is needed, and no limit of a call applies. */
export interface WebHookEvents {
  /**
   * Iterates over the events after a position, in log order, and then over new ones once they are durable. It ends with `break`, with
   * the signal and with {@link WebHook.close}, without an error. It throws if the log cannot be read.
   *
   * @param options.after - by default only events that are recorded after this call.
   */
  follow(options?: {
    readonly after?: Position | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncGenerator<RecordedEvent, void, undefined>;
  /**
   * Reads events whole, oldest first: the first ones after a position, or the newest.
   *
   * @param options.limit - the most events, 100 by default.
   * @throws {TypeError} an option is not valid.
   */
  read(options?: {
    readonly after?: Position | undefined;
    readonly limit?: number | undefined;
  }): Promise<RecordedEvent[]>;
  /**
   * Posts events as `asmx-webhook events forward` does, oldest first: each until it is answered with neither 5xx, 408 nor 429, three
   * times at most.
   *
   * @param options.after - by default 0: the first events of the log.
   * @param options.limit - the most events, 100 by default.
   * @param options.asReceived - sends the requests as they arrived, instead of CloudEvents.
   * @param options.sign - signs those of a sender that the tool names, such as `github`, anew; CloudEvents as `standard-webhooks`.
   * @param options.signal - ends it after the attempt that is under way, as {@link WebHook.close} does.
   * @returns the status of the answer to each event, a refusal (4xx) too.
   * @throws {TypeError} an option is not valid.
   * @throws an event was not accepted in three tries, or the answer was a redirect.
   */
  forward(
    url: string | URL,
    options?: {
      readonly after?: Position | undefined;
      readonly limit?: number | undefined;
      readonly asReceived?: boolean | undefined;
      readonly sign?: { readonly sender: string; readonly secret: string } | undefined;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<{ readonly sequence: string; readonly status: number }[]>;
  /**
   * Records an event, and resolves once it is durable. Missing attributes are filled in: `id` with a UUID, `source` and `type` as for
   * calls, `time` with the current time. `data` may be a `Uint8Array`.
   *
   * @returns its id in the log, and whether it was recorded: one with the `source` and `id` of another is not.
   * @throws {CloudEventError} it is not a valid CloudEvent, or has `null` or what JSON has no form for as its data.
   * @throws {EventLogError} the log could not take it.
   */
  record(event: Partial<CloudEvent>): Promise<{ readonly id: string; readonly recorded: boolean }>;
}

/** A WebHook service that answers. */
export interface WebHook {
  /** Absolute address of the endpoint on this machine. */
  readonly url: string;
  /** Absolute address of the health and metrics pages, if `ADMIN_PORT` gives them one of their own. */
  readonly adminUrl: string | undefined;
  readonly events: WebHookEvents;
  /** Finishes the calls in progress, takes no new ones, and closes the event log. Later calls return the same promise. */
  close(): Promise<void>;
}

/**
 * Starts the service in this process. Environment variables and `.env` are ignored, and nothing is logged unless
 * `LOG_LEVEL` says so. Relative paths are relative to the working directory.
 *
 * @throws an error whose message says what to change: a {@link ConfigError}, an {@link EventLogError}, or one with the `code` of the
 * system if the address cannot be listened on (`EADDRINUSE`). Then nothing stays open.
 */
export async function createWebHook(settings: WebHookSettings = {}): Promise<WebHook> {
  const config = ProcessConfig.embedded(settings);
  const log = await config.eventLog.open(config.eventLogSettings).catch((cause: unknown) => {
    throw cause instanceof LogError ? new LogError(plainReason(cause), { cause }) : cause;
  });
  const app = await startApp(config, log, createLogger(config.log.level)).catch(async (error: unknown) => {
    await log.close();
    throw error;
  });
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  let closed: Promise<void> | undefined;
  return {
    url: app.url,
    adminUrl: app.adminUrl,
    events: eventsOf(log, config, ending.signal),
    close() {
      ending.abort();
      return (closed ??= app.close().then(() => log.close()));
    },
  };
}

function eventsOf(log: EventLog, config: Config, ending: AbortSignal): WebHookEvents {
  const factory = new EventFactory({ source: config.path, type: config.eventType });
  return {
    follow({ after, signal } = {}) {
      const start = after === undefined ? log.newestFromNow() : Promise.resolve(positionOf(after));
      // The iteration throws it.
      start.catch(() => undefined);
      return followed(log, start, signal === undefined ? ending : AbortSignal.any([ending, signal]));
    },
    async read({ after, limit } = {}) {
      const from = after === undefined ? undefined : positionOf(after);
      return (await log.read({ limit: limitOf(limit), after: from })).map(recordedEvent);
    },
    async forward(url, { after = 0, limit, signal = ending, ...form } = {}) {
      const pages = log.pages({ after: positionOf(after) });
      const { postEvents } = await import('./cli/forward/target.js');
      return postEvents(pages, limitOf(limit), url, config.namespace, form, AbortSignal.any([ending, signal]));
    },
    async record(event) {
      const given = Object.entries(event).filter(([, value]) => value !== undefined);
      const filled: Partial<CloudEvent> = { ...factory.attributes(), ...Object.fromEntries(given) };
      const { data, ...attributes } = filled;
      const content = data instanceof Uint8Array ? { data_base64: Buffer.from(data).toString('base64') } : { data };
      if (data === null) throw new NoCloudEvent('data must not be null: leave it out.');
      const made = EventFactory.read(JSON.stringify({ ...attributes, ...content }, jsonValue));
      const [appended] = await log.append(made);
      return appended;
    },
  };
}

/** Refuses what JSON has no form for: it would be left out, or become null. */
function jsonValue(name: string, value: unknown): unknown {
  const isNumber = typeof value === 'number';
  if (isNumber ? Number.isFinite(value) : !/^(?:function|symbol|bigint)$/.test(typeof value)) return value;
  throw new NoCloudEvent(`${name} must not be ${isNumber ? String(value) : `a ${typeof value}`}: JSON has none.`);
}

async function* followed(
  log: EventLog,
  start: Promise<number>,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent, void, undefined> {
  try {
    if (signal.aborted) return;
    const pages = log.follow({ after: await start }, signal, (change, position, newest) =>
      change === 'ends before' ? newest : position,
    );
    for await (const page of pages) {
      for (const event of page) {
        if (signal.aborted) return;
        if (StoredEvent.problemOf(event) === undefined) yield recordedEvent(event);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function recordedEvent(event: Parameters<typeof StoredEvent.json>[0]): RecordedEvent {
  return JSON.parse(StoredEvent.json(event)) as RecordedEvent;
}

function limitOf(limit = 100): number {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new TypeError('limit must be a whole number from 1 on.');
  return limit;
}

function positionOf(after: Position): number {
  const position = positionIn(String(after));
  if (position !== undefined) return position;
  throw new TypeError('after must be the sequence of an event: up to 20 digits.');
}
