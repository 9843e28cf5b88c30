import { readFile } from 'node:fs/promises';
import { unescapeBuffer } from 'node:querystring';
import { Contract } from '../../contract/contract';
import type { StoredEvent } from '../../events/stored-event';
import { receivedRequest } from '../../pages/received-request';
import type { Sender } from '../../senders/sender';
import { fileError } from '../terminal';

/** A request with an event. */
export interface PostedMessage {
  readonly method: string;
  /** Path and query; undefined: those of the address. */
  readonly path: string | undefined;
  readonly body: Buffer | undefined;
  /** Returns the header fields of an attempt: a signature has the time of its attempt. */
  readonly headers: () => SentFields;
}

type SentFields = Readonly<Record<string, string>>;

/** How requests are sent as they arrived. */
export interface ReceivedForm {
  /** Has the namespace of SOAP calls whose envelope the log does not have. */
  readonly contract: Contract;
  /** Signs each attempt anew. */
  readonly sign: ((sent: SentFields, id: string, body: Buffer) => SentFields) | undefined;
}

/** A sender whose signature requests get, and a file with the secret. */
export interface SignerName {
  readonly sender: Sender;
  readonly secretFile: string;
}

/**
 * @param namespace - of the service that recorded the events.
 * @throws the secret cannot be read, or is not one of the sender's; the message is one line.
 */
export async function receivedForm(namespace: string, name: SignerName | undefined): Promise<ReceivedForm> {
  const contract = await Contract.load(namespace);
  const signature = name?.sender.signature;
  if (name === undefined || signature === undefined) return { contract, sign: undefined };
  const { sender, secretFile } = name;
  const secret = await readFile(secretFile, 'utf8').catch((error: unknown) => {
    throw fileError(secretFile, 'read', error);
  });
  const key = signature.signingKey(secret.trim());
  if (key === undefined || key.length === 0) throw new Error(`${secretFile} does not hold a secret of ${sender.name}.`);
  const idField = signature.field.replace(/-signature$/, '-id');
  return { contract, sign: (sent, id, body) => signature.sign(signedId(sent[idField]) ?? id, body, [key]) };
}

/** The id of a request, if it can be signed: with a full stop in it the signed text could be cut in another place. */
function signedId(id: string | undefined): string | undefined {
  return id === '' || id?.includes('.') ? undefined : id;
}

/** A name and a value that a request may have (RFC 9110, section 5): an import may have brought others. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** More rounds of percent-encoding than anybody needs. */
const MAX_ROUNDS = 5;

/**
 * What came after the operation's name in a path; undefined if there is nothing, or if a target could read it as another path than one
 * below the address: its sender chose it.
 */
function suffixOf(path: string): string | undefined {
  const suffix = /^.*?\/RecordEvent(\/.*)$/s.exec(path)?.[1];
  let plain = suffix ?? '';
  for (let round = 0; plain.includes('%'); round++) {
    const decoded = unescapeBuffer(plain).toString('latin1');
    if (decoded === plain) break;
    if (round === MAX_ROUNDS) return undefined;
    plain = decoded;
  }
  const segments = plain.split(/[/\\]/).slice(1);
  // Some servers drop what follows a semicolon (RFC 3986, section 3.3).
  const leadsOut = (segment: string, index: number) =>
    /^\.{0,2}(?:;|$)/.test(segment) && !(segment === '' && index === segments.length - 1);
  // Two bytes that are never in UTF-8 begin a dot or a slash for some servers.
  return /[^ -~\x80-\xbf\xc2-\xff]/.test(plain) || segments.some(leadsOut) ? undefined : suffix;
}

/** Returns the request that brought an event, for an address: its path is followed by what came after the operation's name. */
export function receivedMessage(
  event: StoredEvent,
  { pathname, search }: URL,
  { contract, sign }: ReceivedForm,
  id: string,
): PostedMessage {
  const { method, target = '', headers, body } = receivedRequest(event, contract);
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(target) ?? [];
  const suffix = suffixOf(path);
  // Without a prototype: a field may be called `constructor`.
  const sent = Object.create(null) as Record<string, string>;
  for (const [name, value] of headers) {
    if (!FIELD_NAME.test(name) || !FIELD_VALUE.test(value)) continue;
    sent[name] = sent[name] === undefined ? value : `${sent[name]}, ${value}`;
  }
  const bytes = body?.();
  const queries = [search.slice(1), query].filter((part) => part !== '');
  return {
    method,
    path: `${suffix === undefined ? pathname : pathname.replace(/\/$/, '') + suffix}${queries.length === 0 ? '' : `?${queries.join('&')}`}`,
    body: bytes,
    headers: () => ({ ...sent, ...(bytes && sign?.(sent, id, bytes)) }),
  };
}
