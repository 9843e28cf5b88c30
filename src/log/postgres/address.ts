import { ValueError } from '../../util/errors';
import { hostIn } from '../address';

export interface PostgresAddress {
  /** The hosts to try, in this order; one that begins with a slash is the folder of a Unix socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly database: string;
  /** Without one, `PGUSER` or the user of this process. */
  readonly user: string | undefined;
  readonly sslmode: (typeof SSL_MODES)[number];
  /** A file with certificates of authorities, in place of Node's. */
  readonly sslrootcert: string | undefined;
  /** Maximum connections of this process. */
  readonly connections: number;
  /** Whether a server that answers before a commit is on its disk is accepted. */
  readonly isRelaxed: boolean;
}

/** As in libpq: the last two check the server's certificate, and so does `require` if there is an `sslrootcert`. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;

const PARAMETERS: ReadonlyMap<string, RegExp> = new Map([
  ['sslmode', new RegExp(`^(?:${SSL_MODES.join('|')})$`)],
  ['sslrootcert', /./],
  ['connections', /^(?:[2-9]|[1-9]\d)$/],
  ['durability', /^(?:full|relaxed)$/],
  ['target_session_attrs', /^(?:read-write|primary)$/],
]);

export const PARAMETER_NAMES = [...PARAMETERS.keys()];

/** Where a password is given. */
export const PASSWORDS = 'EVENT_LOG_PASSWORD_FILE, PGPASSFILE or PGPASSWORD';
const NO_PASSWORD = `must not hold a password: give it in ${PASSWORDS}`;

const ADDRESS = /^postgres(?:ql)?:\/\/(?:([^@/]*)@)?([^@/?#]*)\/([^/?#]+)(?:\?([^#]*))?$/;

/**
 * Reads `postgres://USER@HOST:PORT,…/DATABASE?sslmode=…&connections=N&durability=relaxed`; user, database and values are percent-encoded.
 *
 * @returns undefined if the text does not have this form.
 * @throws {ValueError} saying what is allowed in a part of it, without any part of the address.
 */
export function postgresAddress(text: string): PostgresAddress | undefined {
  const [, user, hosts, database, query = ''] = ADDRESS.exec(text) ?? [];
  if (hosts === undefined || database === undefined) return undefined;
  if (user?.includes(':')) throw new ValueError(NO_PASSWORD);
  const given = new URLSearchParams(query);
  for (const [name, value] of given) {
    if (PARAMETERS.get(name)?.test(value) !== true || given.getAll(name).length > 1)
      throw new ValueError(ADVICE.get(`${name}=${value}`) ?? ADVICE.get(name) ?? PARAMETERS_FORM);
  }
  return {
    hosts: hosts.split(',').map(hostOf),
    database: decoded(database),
    user: user && decoded(user),
    sslmode: (given.get('sslmode') ?? 'prefer') as PostgresAddress['sslmode'],
    sslrootcert: given.get('sslrootcert') ?? undefined,
    connections: Number(given.get('connections') ?? 4),
    isRelaxed: given.get('durability') === 'relaxed',
  };
}

const PARAMETERS_FORM =
  `may have, after a ?, sslmode=${SSL_MODES.join('|')}, sslrootcert=FILE, connections=2 to 99, durability=relaxed and ` +
  'target_session_attrs=read-write, with & between them';

/** Advice about parameters that are in addresses of managed databases and other libraries, and not known here. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['sslmode=no-verify', 'must have sslmode=require in place of sslmode=no-verify'],
  ['channel_binding', 'must not have channel_binding: leave it out; sslmode=verify-full makes sure of the server'],
  ['password', NO_PASSWORD],
]);

const DEFAULT_PORT = '5432';
const HOST_FORM =
  'must name its hosts as host:port, with commas between them, or the folder of a socket as %2Fvar%2Frun%2Fpostgresql';

/** A host, or the folder of a Unix socket. */
function hostOf(text: string): PostgresAddress['hosts'][number] {
  const [, folder, ofFolder = DEFAULT_PORT] = /^(%2f.*?)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (folder !== undefined) return { host: decoded(folder), port: Number(ofFolder) };
  const { hostname, port } = hostIn(text, DEFAULT_PORT, HOST_FORM);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ValueError('must have its user, database and folders percent-encoded');
  }
}
