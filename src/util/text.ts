import { userInfo } from 'node:os';

/** For a text that does not stand for a value of its kind; the message says what it must be. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

const QUOTED_LENGTH = 200;

/** Shortens a caller's text, to 200 characters by default, so that a message can quote it; `…` marks the cut. */
export function shortened(text: string, maxLength = QUOTED_LENGTH): string {
  if (text.length <= maxLength) return text;
  // A surrogate pair that the cut divides is dropped.
  return `${text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Controls, marks of direction, separators, joiners, fillers, tags, lone surrogates; not the variation selectors of emoji. */
const INVISIBLE = /(?![\t\n]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces each invisible character except tabs and line feeds; `place` is its offset. */
export function replaceInvisible(text: string, replacement: (character: string, place: number) => string): string {
  return text.replace(INVISIBLE, replacement);
}

/** Escapes a character as JSON does, in lower case. */
export function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** Escapes the characters of a JSON text that JSON leaves as they are and a terminal does not show. */
export function visible(text: string): string {
  // JSON already escapes the characters before the space.
  return replaceInvisible(text, (character) => (character < ' ' ? character : escaped(character)));
}

/** Joins the messages of an error and its causes, outermost first, as ASP.NET chains them. */
export function messageChain(error: unknown): string {
  const messages: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) messages.push(link.message);
  return messages.join(' ---> ') || 'Unknown error.';
}

/** Joins the messages of an error and its causes for the operator: `The log cannot be opened: the disk is full`. */
export function plainReason(error: unknown): string {
  return messageChain(error).replaceAll(/\.? ---> /g, ': ');
}

/** Copies a text that was cut from another one, of which V8 keeps the whole otherwise. */
export function detached(text: string): string {
  // Decoded from UTF-8, an ASCII text takes one byte a character. UTF-8 cannot hold lone surrogates.
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}

const MAX_KEPT_TEXTS = 256;
const MAX_KEPT_LENGTH = 200;

/** Returns a function that keeps its results for up to 256 short texts, and forgets all to make room: senders repeat a few. */
export function memoized<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const kept = results.get(text);
    if (kept !== undefined || results.has(text)) return kept as T;
    const result = compute(text);
    if (text.length > MAX_KEPT_LENGTH) return result;
    if (results.size >= MAX_KEPT_TEXTS) results.clear();
    results.set(text, result);
    return result;
  };
}

const KIB = 1024;
const MIB = KIB * KIB;

/** Writes a number of bytes for a person: `640 B`, `12.3 KiB`, `4 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < KIB) return `${String(bytes)} B`;
  const [size, unit] = bytes < MIB ? [bytes / KIB, 'KiB'] : [bytes / MIB, 'MiB'];
  return `${String(Math.round(size * 10) / 10)} ${unit}`;
}

/** Quotes a text from elsewhere in a message: shortened, on one line, its control characters escaped. */
export function quoted(text: string): string {
  return visible(JSON.stringify(shortened(text)).slice(1, -1));
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

/** Says why a file or a host cannot be used, to follow a colon; without a known code it is the message of the error. */
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
