import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { flag, MEBIBYTE, rate, secrets, timeout, webhookSecrets, wholeNumber, type Rate } from './config-values';

/** Who may call. Undefined: that kind of call is open. */
export interface AccessConfig {
  readonly recordKeys: readonly string[] | undefined;
  readonly readKeys: readonly string[] | undefined;
  readonly webhookSecrets: readonly string[] | undefined;
}

/** Files in PEM of the server's certificate. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Certificates that a client must have one of; undefined: clients need none. */
  readonly clientCa: string | undefined;
}

/** What callers can have of the service at most. Times are in milliseconds. */
export interface Limits {
  readonly maxConnections: number;
  readonly maxInFlight: number;
  /** Bytes of large request bodies that are held in memory together. */
  readonly maxBodyMemory: number;
  readonly maxHeaderBytes: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  /** How long a caller may take to take an answer. */
  readonly sendTimeout: number;
  /** Calls of one client; undefined: as many as it likes. */
  readonly rate: Rate | undefined;
}

/** What an operator sees. */
export interface LogConfig {
  readonly level: string;
  /** Whether each request is logged. */
  readonly access: boolean;
}

/** The part of the configuration that protects the service and shows what it does. */
export interface Protection {
  readonly access: AccessConfig;
  readonly tls: TlsFiles | undefined;
  readonly limits: Limits;
  /** Where health and metrics are served beside the public address; undefined: only there. */
  readonly admin: { readonly host: string; readonly port: number } | undefined;
  readonly log: LogConfig;
}

/** Variables that hold secrets. Each may also be given as a file, named by the variable with `_FILE` behind it. */
const SECRETS = ['RECORD_KEYS', 'READ_KEYS', 'WEBHOOK_SECRETS'];

export const protectionVariables = {
  RECORD_KEYS: secrets.optional(),
  READ_KEYS: secrets.optional(),
  WEBHOOK_SECRETS: webhookSecrets.optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
  TLS_CLIENT_CA: z.string().optional(),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5000),
  MAX_IN_FLIGHT: wholeNumber(1, 100_000).default(1000),
  MAX_BODY_MEMORY: wholeNumber(MEBIBYTE, 64 * 1024 * MEBIBYTE).optional(),
  MAX_HEADER_BYTES: wholeNumber(4096, MEBIBYTE).default(16_384),
  HEADERS_TIMEOUT: timeout.default(20_000),
  REQUEST_TIMEOUT: timeout.default(60_000),
  SEND_TIMEOUT: timeout.default(30_000),
  RATE_LIMIT: rate.optional(),
  ADMIN_PORT: wholeNumber(0, 65535).optional(),
  ADMIN_HOST: z.string().default('127.0.0.1'),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .default('info'),
  ACCESS_LOG: flag.default(false),
};

type Variables = z.infer<z.ZodObject<typeof protectionVariables>> & { readonly MAX_REQUEST_BYTES: number };

/** How many of the largest bodies are held at the same time, unless MAX_BODY_MEMORY says otherwise. */
const LARGEST_BODIES = 16;

/** Names what only together makes no sense: a variable and why. */
export function contradictions(env: Variables): { readonly name: string; readonly message: string }[] {
  const found = [];
  if (env.TLS_CERT !== undefined && env.TLS_KEY === undefined)
    found.push({ name: 'TLS_KEY', message: 'must be set together with TLS_CERT' });
  if (env.TLS_CERT === undefined && (env.TLS_KEY ?? env.TLS_CLIENT_CA) !== undefined)
    found.push({ name: 'TLS_CERT', message: 'must be set together with TLS_KEY, and for TLS_CLIENT_CA' });
  if (env.HEADERS_TIMEOUT > env.REQUEST_TIMEOUT)
    found.push({ name: 'HEADERS_TIMEOUT', message: 'must not be longer than REQUEST_TIMEOUT' });
  if (env.MAX_BODY_MEMORY !== undefined && env.MAX_BODY_MEMORY < env.MAX_REQUEST_BYTES)
    found.push({ name: 'MAX_BODY_MEMORY', message: 'must not be less than MAX_REQUEST_BYTES' });
  return found;
}

/** Puts the variables into the terms of the code. */
export function protectionOf(env: Variables): Protection {
  return {
    access: { recordKeys: env.RECORD_KEYS, readKeys: env.READ_KEYS, webhookSecrets: env.WEBHOOK_SECRETS },
    tls:
      env.TLS_CERT === undefined || env.TLS_KEY === undefined
        ? undefined
        : { cert: env.TLS_CERT, key: env.TLS_KEY, clientCa: env.TLS_CLIENT_CA },
    limits: {
      maxConnections: env.MAX_CONNECTIONS,
      maxInFlight: env.MAX_IN_FLIGHT,
      maxBodyMemory: env.MAX_BODY_MEMORY ?? LARGEST_BODIES * env.MAX_REQUEST_BYTES,
      maxHeaderBytes: env.MAX_HEADER_BYTES,
      headersTimeout: env.HEADERS_TIMEOUT,
      requestTimeout: env.REQUEST_TIMEOUT,
      sendTimeout: env.SEND_TIMEOUT,
      rate: env.RATE_LIMIT,
    },
    admin: env.ADMIN_PORT === undefined ? undefined : { host: env.ADMIN_HOST, port: env.ADMIN_PORT },
    log: { level: env.LOG_LEVEL, access: env.ACCESS_LOG },
  };
}

/** Whether the value of a variable must not be printed. */
export function isSecret(name: string): boolean {
  return SECRETS.includes(name);
}

/**
 * Reads the secrets that are given as files.
 *
 * @returns the variables with the files' content, and what is wrong.
 */
export function withSecretFiles(variables: Readonly<Record<string, string | undefined>>): {
  variables: Record<string, string | undefined>;
  problems: string[];
} {
  const all = { ...variables };
  const problems: string[] = [];
  for (const name of SECRETS) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) continue;
    if (variables[name] !== undefined) problems.push(`${name}_FILE=${file}: must not be set together with ${name}`);
    try {
      all[name] = readFileSync(file, 'utf8');
    } catch (error) {
      problems.push(`${name}_FILE=${file}: must be a file that can be read (${(error as Error).message})`);
    }
  }
  return { variables: all, problems };
}
