import { ValueError } from '../../util/text';

/** A stream of a NATS cluster, and how it is reached. */
export interface JetStreamAddress {
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

const ADDRESS = /^(nats|tls):\/\/(?:([^@]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const DEFAULT_PORT = '4222';

/**
 * Reads `nats://USER:PASSWORD@HOST:PORT,…/STREAM?replicas=N`, with `tls://` for encrypted connections; user and password are
 * percent-encoded.
 *
 * @returns undefined if the text does not have this form.
 * @throws {ValueError} saying what is allowed in a part of it, without any part of the address.
 */
export function jetStreamAddress(text: string): JetStreamAddress | undefined {
  const [, scheme, credentials, hosts = '', stream = '', query = ''] = ADDRESS.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  return {
    servers: hosts.split(',').map(serverOf),
    tls: scheme === 'tls',
    ...credentialsOf(credentials),
    stream: streamOf(stream),
    replicas: replicasOf(query),
  };
}

function serverOf(host: string): string {
  const address = `nats://${host}`;
  if (host === '' || /\s/.test(host) || !URL.canParse(address) || new URL(address).host !== host.toLowerCase()) {
    throw new ValueError('must name its servers as host:port, with commas between them');
  }
  const { hostname, port } = new URL(address);
  return `${hostname}:${port || DEFAULT_PORT}`;
}

function credentialsOf(text: string | undefined): Pick<JetStreamAddress, 'user' | 'password'> {
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
