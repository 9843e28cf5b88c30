import { availableParallelism } from 'node:os';
import { compile } from 'proxy-addr';
import { z } from 'zod';
import {
  contradictions,
  isSecret,
  protectionOf,
  protectionVariables,
  withSecretFiles,
  type Protection,
} from './config-protection';
import { duration, MEBIBYTE, wholeNumber } from './config-values';

/** Where the event log is kept. */
export interface EventLogLocation {
  readonly engine: 'sqlite';
  /** Path of the database file, relative to the working directory. */
  readonly file: string;
}

/** The service's configuration, checked and in the units that the code uses. */
export interface Config extends Protection {
  readonly host: string;
  /** TCP port; 0 lets the system pick a free one. */
  readonly port: number;
  /** First path segment of the endpoint, without slashes. */
  readonly serviceRoot: string;
  /** XML namespace of the operations; ends with a slash. */
  readonly namespace: string;
  /** Public base address without a trailing slash; undefined: taken from each request. */
  readonly baseUrl: string | undefined;
  /** Which proxies in front are believed: so many hops, or these networks in the terms of `proxy-addr`. */
  readonly trustProxy: number | readonly string[];
  readonly eventLog: EventLogLocation;
  /** CloudEvents `type` of an event whose sender named none. */
  readonly eventType: string;
  /** Most events that one GetEvents response lists. */
  readonly getEventsLimit: number;
  /** Most bytes that the body of a GetEvents response has. */
  readonly getEventsMaxBytes: number;
  /** Most events that the log keeps; undefined: all. */
  readonly retentionMaxEvents: number | undefined;
  /** How long an event is kept, in milliseconds; undefined: for ever. */
  readonly retentionMaxAge: number | undefined;
  /** Most bytes that a request body has, after decompression. */
  readonly maxRequestBytes: number;
  /** Processes that answer; 1: this one. */
  readonly workers: number;
}

/** Thrown when the environment holds a value that the service cannot use; the message names each one. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const namespace = z
  .string()
  .refine((value) => value.endsWith('/'), {
    error: 'must end with a slash, as in http://tempuri.org/',
    abort: true,
  })
  .refine(
    (value) => /^[^\s"<>{}|\\^`]+$/.test(value) && URL.canParse(value),
    'must be an absolute URI, as in http://tempuri.org/',
  );

const baseUrl = z
  .string()
  .refine((value) => {
    if (!URL.canParse(value)) return false;
    const url = new URL(value);
    return /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === '';
  }, 'must be an http or https address without query or fragment, as in https://hooks.example.com')
  .transform((value) => new URL(value).href.replace(/\/+$/, ''));

const trustProxy = z.string().transform((value, context): number | readonly string[] => {
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const networks = value.split(',').map((network) => network.trim());
  try {
    compile(networks);
  } catch {
    const names = 'loopback, linklocal, uniquelocal';
    context.addIssue(
      `must be a number of hops, or a list of addresses, networks as in 10.0.0.0/8, and the names ${names}`,
    );
  }
  return networks;
});

const eventLog = z
  .string()
  .regex(/^sqlite:./, 'must be sqlite: and the path of a file, as in sqlite:data/events.db')
  .transform((value): EventLogLocation => ({ engine: 'sqlite', file: value.slice('sqlite:'.length) }));

const environment = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(0, 65535).default(8080),
  SERVICE_ROOT: z
    .string()
    .regex(/^(?!\.+$)[\w.~-]+$/, 'must be one path segment of letters, digits and - . _ ~, without slashes')
    .default('webhooks'),
  SERVICE_NAMESPACE: namespace.default('http://tempuri.org/'),
  BASE_URL: baseUrl.optional(),
  TRUST_PROXY: trustProxy.default(0),
  EVENT_LOG: eventLog.default({ engine: 'sqlite', file: 'data/events.db' }),
  EVENT_TYPE: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters without spaces')
    .default('webhook.recorded'),
  GET_EVENTS_LIMIT: wholeNumber(1, 10_000).default(100),
  GET_EVENTS_MAX_BYTES: wholeNumber(32_768, 64 * MEBIBYTE).default(60_000),
  RETENTION_MAX_EVENTS: wholeNumber(1, 1e15).optional(),
  RETENTION_MAX_AGE: duration.optional(),
  MAX_REQUEST_BYTES: wholeNumber(1024, 256 * MEBIBYTE).default(4 * MEBIBYTE),
  WORKERS: z
    .union([z.literal('auto').transform(() => availableParallelism()), wholeNumber(1, 128)], {
      error: 'must be auto, or a whole number from 1 to 128',
    })
    .default(1),
  ...protectionVariables,
});

/**
 * Reads the configuration from environment variables. A variable that is empty counts as not set.
 *
 * @throws {ConfigError} naming every variable that is wrong, its value and what is allowed.
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const { variables: given, problems } = withSecretFiles(set);
  const parsed = environment.safeParse(given);
  const wrong = parsed.success
    ? contradictions(parsed.data)
    : parsed.error.issues.map(({ path, message }) => ({ name: path.join('.'), message }));
  const lines = wrong.map(({ name, message }) => `${name}${isSecret(name) ? '' : `=${given[name] ?? ''}`}: ${message}`);
  if (!parsed.success || lines.length + problems.length > 0) throw new ConfigError([...problems, ...lines].join('\n'));
  const env = parsed.data;
  return {
    host: env.HOST,
    port: env.PORT,
    serviceRoot: env.SERVICE_ROOT,
    namespace: env.SERVICE_NAMESPACE,
    baseUrl: env.BASE_URL,
    trustProxy: env.TRUST_PROXY,
    eventLog: env.EVENT_LOG,
    eventType: env.EVENT_TYPE,
    getEventsLimit: env.GET_EVENTS_LIMIT,
    getEventsMaxBytes: env.GET_EVENTS_MAX_BYTES,
    retentionMaxEvents: env.RETENTION_MAX_EVENTS,
    retentionMaxAge: env.RETENTION_MAX_AGE,
    maxRequestBytes: env.MAX_REQUEST_BYTES,
    workers: env.WORKERS,
    ...protectionOf(env),
  };
}

/**
 * Reads the configuration of this process: its environment, and what a `.env` file in the working directory adds to it.
 *
 * @throws {ConfigError} as {@link readConfig} does.
 */
export function loadConfig(): Config {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return readConfig(process.env);
}
