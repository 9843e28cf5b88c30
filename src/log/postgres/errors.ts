import { DatabaseError } from 'pg';
import { PASSWORDS } from './address';

/** Thrown for a server that no event may be sent to, whatever is tried. */
export class UnfitServerError extends Error {}

/** Thrown for a statement or a new connection that the server did not answer in time. */
export class ServerTimeoutError extends Error {
  constructor() {
    super('no answer in time');
  }
}

/** The SQLSTATEs of failures that pass: a lost connection, a deadlock, a server that is read-only, full, starting or ending. */
const PASSING = /^(?:08|40|25006|53300|57P0)/;

/** Messages of the library: the server has no TLS, and every connection is in use. */
const NO_TLS = 'does not support SSL';
const ALL_BUSY = 'timeout exceeded when trying to connect';

/** Returns true if the server does not offer TLS. */
export function isWithoutTls(error: Error): boolean {
  return error.message.includes(NO_TLS);
}

/** Returns true if the connection is no longer usable. */
export function isLost(error: Error): boolean {
  return error instanceof DatabaseError ? /^(?:08|25006|57P0)/.test(error.code ?? '') : error.message !== ALL_BUSY;
}

/** Returns true if another attempt may succeed. */
export function mayPass(error: Error): boolean {
  if (error instanceof UnfitServerError) return false;
  return error instanceof DatabaseError ? PASSING.test(error.code ?? '') : true;
}

/** Adds what helps to the message of a server. */
export function explained(error: Error): Error {
  const hint = HINTS.get((error as DatabaseError).code ?? '');
  if (hint !== undefined && !error.message.endsWith(hint)) error.message += `; ${hint}`;
  return error;
}

const HINTS: ReadonlyMap<string, string> = new Map([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'].map(
    (code): [string, string] => [code, 'name the file of its authority in sslrootcert'],
  ),
  ['28P01', `see ${PASSWORDS}`],
  ['3D000', "create it, with ENCODING 'UTF8'"],
  [
    '42501',
    'the role has to own the tables of the log, and to create them needs CREATE on the first schema of its search_path',
  ],
  ['53100', 'the disk of the database is full'],
]);
