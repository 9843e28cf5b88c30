import { userInfo } from 'node:os';

/** For a text that does not stand for a value of its kind; the message says what it must be. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** Joins the messages of an error and its causes for the operator: `The log cannot be opened: the disk is full`. */
export function plainReason(error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown error.';
  const { message, cause } = error;
  return cause instanceof Error ? `${message.replace(/\.$/, '')}: ${plainReason(cause)}` : message || 'Unknown error.';
}

/** Why the system, or TLS, refused something: the rest of a sentence about a file or a host. */
const REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['ENOTDIR', 'part of its path is a file, not a folder'],
  ['EISDIR', 'it is a folder'],
  ['EADDRINUSE', 'another program uses it'],
  ['EADDRNOTAVAIL', 'it is not an address of this machine'],
  ['EAFNOSUPPORT', 'it is not an address of this machine'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'its file system is read-only'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['ENOTFOUND', 'its name is unknown'],
  ['EAI_AGAIN', 'its name cannot be looked up now'],
  ['ECONNRESET', 'the connection was closed before the answer was complete'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate is signed by an authority that is not trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'its certificate is signed by an authority that is not trusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is signed by an authority that is not trusted'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is signed by itself'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'it speaks only old versions of TLS'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'it speaks only old versions of TLS'],
]);

/** Says why a file or a host cannot be used, to follow a colon. For an unknown code it is the error's message. */
export function reasonOf(error: unknown): string {
  // A host with several addresses has an error for each, under one without a message.
  const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  const { code, message, address, port } = first as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'EACCES' || code === 'EPERM') return `the user ${userName()} has no permission`;
  if (code === 'ECONNREFUSED') return `nothing listens at ${address ?? 'that address'} on port ${String(port)}`;
  if (message.includes('wrong version number')) return 'it does not speak TLS at this port';
  return REASONS.get(code) ?? message;
}

/** The name of the user that this process runs as, or its number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
