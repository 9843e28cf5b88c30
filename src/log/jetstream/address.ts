import { ValueError } from '../../util/errors';
import { hostIn } from '../address';

/** Credentials for a NATS server: a user with a password, a token, or the file that `nsc generate creds` writes. */
export type JetStreamLogin =
  { readonly user: string; readonly password: string } | { readonly token: string } | { readonly file: string };

export interface JetStreamAddress {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly login: JetStreamLogin | undefined;
  readonly stream: string;
  /** On how many servers the log is kept. */
  readonly replicas: number;
}

const ADDRESS = /^(nats|tls):\/\/(?:([^@]*)@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;

/**
 * Reads `nats://USER:PASSWORD@HOST:PORT,…/STREAM?replicas=N&creds=FILE`, with `tls://` for encrypted connections; user and password
 * are percent-encoded, and one text before the `@` is a token.
 *
 * @returns undefined if the text does not have this form.
 * @throws {ValueError} saying what is allowed in a part of it, without any part of the address.
 */
export function jetStreamAddress(text: string): JetStreamAddress | undefined {
  const [, scheme, login, hosts = '', stream = '', query = ''] = ADDRESS.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const { replicas, file } = parametersOf(query);
  if (login !== undefined && file !== undefined)
    throw new ValueError('must have either a login before the @ or ?creds=, not both');
  return {
    servers: hosts.split(',').map(serverOf),
    tls: scheme === 'tls',
    login: file === undefined ? loginOf(login) : { file },
    stream: streamOf(stream),
    replicas,
  };
}

function serverOf(text: string): string {
  const { hostname, port } = hostIn(text, '4222', 'must name its servers as host:port, with commas between them');
  return `${hostname}:${port}`;
}

function loginOf(text: string | undefined): JetStreamLogin | undefined {
  if (text === undefined) return undefined;
  try {
    const [first = '', password, ...more] = text.split(':').map(decodeURIComponent);
    if (first !== '' && more.length === 0) return password === undefined ? { token: first } : { user: first, password };
  } catch {
    // The error below says so.
  }
  throw new ValueError('must have user:password or a token before the @; write : / @ and % in them percent-encoded');
}

function streamOf(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  throw new ValueError('must name the stream after a slash, in 1 to 64 letters, digits, - and _');
}

function parametersOf(query: string): { replicas: number; file: string | undefined } {
  const { replicas = '1', creds, ...others } = Object.fromEntries(new URLSearchParams(query));
  if (!/^[1-5]$/.test(replicas) || creds === '' || Object.keys(others).length > 0)
    throw new ValueError(
      'may have ?replicas= with a number from 1 to 5 and ?creds= with a credentials file, and no other parameter',
    );
  return { replicas: Number(replicas), file: creds };
}
