import { resolve } from 'node:path';
import { ValueError } from './variable';

/** An event log in a file of this machine. */
export interface SqliteLocation {
  readonly engine: 'sqlite';
  /** Absolute path of the database file. */
  readonly file: string;
}

/** An event log in a stream of a NATS cluster. */
export interface JetStreamLocation {
  readonly engine: 'jetstream';
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user: string | undefined;
  /** Secret. */
  readonly password: string | undefined;
  readonly stream: string;
  /** On how many servers the log is kept. */
  readonly replicas: number;
}

/** Where the event log is kept. */
export type EventLogLocation = SqliteLocation | JetStreamLocation;

const SQLITE = /^sqlite:(.+)$/s;
const NATS = /^(nats|tls):\/\/(?:([^@]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const DEFAULT_PORT = '4222';

/**
 * Reads the address of an event log: `sqlite:FILE`, or `nats://USER:PASSWORD@HOST:PORT,…/STREAM?replicas=N`, with `tls://`
 * for encrypted connections; user and password are percent-encoded.
 *
 * @throws {ValueError} saying what is allowed, without any part of the address.
 */
export function eventLog(text: string): EventLogLocation {
  const file = SQLITE.exec(text)?.[1];
  if (file !== undefined) return { engine: 'sqlite', file: resolve(file) };
  const [, scheme, credentials, hosts = '', stream = '', query = ''] = NATS.exec(text) ?? [];
  if (scheme === undefined) {
    throw new ValueError(
      'must be sqlite: and the path of a file, as in sqlite:data/events.db, or the address of a NATS stream, as in ' +
        'nats://user:password@host1:4222,host2:4222/EVENTS?replicas=3',
    );
  }
  return {
    engine: 'jetstream',
    servers: hosts.split(',').map(serverOf),
    tls: scheme === 'tls',
    ...credentialsOf(credentials),
    stream: streamOf(stream),
    replicas: replicasOf(query),
  };
}

/** Replaces what may be a secret in the address of an event log by `***`. */
export function withoutSecrets(text: string): string {
  if (SQLITE.test(text)) return text;
  return text.replace(/^([a-z]+:\/\/)?.*@/is, '$1***@').replace(/([?&](?!replicas=)[^=&]*=)[^&]*/g, '$1***');
}

function serverOf(host: string): string {
  const address = `nats://${host}`;
  if (host === '' || /\s/.test(host) || !URL.canParse(address) || new URL(address).host !== host.toLowerCase()) {
    throw new ValueError('must name its servers as host:port, with commas between them');
  }
  const { hostname, port } = new URL(address);
  return `${hostname}:${port || DEFAULT_PORT}`;
}

function credentialsOf(text: string | undefined): Pick<JetStreamLocation, 'user' | 'password'> {
  if (text === undefined) return { user: undefined, password: undefined };
  const [, user = '', password] = /^([^:]*)(?::([^:]*))?$/.exec(text) ?? [];
  try {
    if (user !== '') {
      const decoded = password === undefined ? undefined : decodeURIComponent(password);
      return { user: decodeURIComponent(user), password: decoded };
    }
  } catch {
    // The error below says so.
  }
  throw new ValueError('must have user:password before the @; write : / @ and % in them percent-encoded');
}

function streamOf(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  throw new ValueError('must name the stream after a slash, in 1 to 64 letters, digits, - and _');
}

function replicasOf(query: string): number {
  const [, replicas] = /^(?:replicas=([1-5]))?$/.exec(query) ?? ['', ''];
  if (replicas === '')
    throw new ValueError('may have ?replicas= with a number from 1 to 5 at its end, and nothing else');
  return Number(replicas ?? 1);
}

/** Names an event log in a log line, without anything secret. */
export function locationName(location: EventLogLocation): string {
  return location.engine === 'sqlite' ? location.file : `${location.servers.join(',')}/${location.stream}`;
}
