import { createHash } from 'node:crypto';
import { unescapeBuffer } from 'node:querystring';
import { BUILD } from '../../util/program';
import type { Contract } from '../../contract/contract';
import { Arrival } from '../../events/arrival';
import { StoredEvent } from '../../events/stored-event';
import { receivedRequest } from '../../pages/received-request';
import { Sender } from '../../senders/sender';
import type { OutgoingRequest } from '../http-client';
import { textOf } from '../terminal';

/** How events are posted. */
export interface PostingMode {
  /** Secrets that sign each attempt (Standard Webhooks). Without them attempts are not signed. */
  readonly secrets?: readonly string[] | undefined;
  /** The request as it arrived, without the signature of {@link secrets}. */
  readonly asReceived?: ReceivedMode | undefined;
}

/** Returns the header fields that sign a request; `id` is its own unless it has one. */
export type Signer = (sent: SentFields, id: string, body: Buffer) => SentFields;

type SentFields = Readonly<Record<string, string>>;

/** How requests are sent as they arrived. */
export interface ReceivedMode {
  /** Has the namespace of SOAP calls whose envelope the log does not have. */
  readonly contract: Contract;
  /** Sign each attempt of a request of their sender anew. */
  readonly signers?: ReadonlyMap<Sender, Signer> | undefined;
}

/** A request with an event. */
interface PostedMessage extends Omit<OutgoingRequest, 'headers'> {
  /** Those of an attempt, as a signature has the time of its attempt. */
  readonly headers: () => SentFields;
}

/**
 * Returns the request that posts an event to an address: the CloudEvent in structured content mode (CloudEvents HTTP binding 1.0.2,
 * section 3.2), or the request that brought it. The `webhook-id` is the same whenever this event is sent, so that the target can
 * tell a repetition.
 */
export function messageOf(event: StoredEvent, address: URL, { secrets, asReceived }: PostingMode): PostedMessage {
  // Source and id name an event together, and may hold what a header field may not.
  const name = JSON.stringify([event.source, event.id]);
  const id = `evt_${createHash('sha256').update(name).digest('base64url')}`;
  if (asReceived !== undefined) return receivedMessage(event, address, asReceived, id);
  const body = Buffer.from(StoredEvent.json(event));
  return {
    method: 'POST',
    body,
    headers: () => ({
      'User-Agent': `asmx-webhook/${BUILD.version}`,
      'Content-Type': 'application/cloudevents+json',
      'webhook-id': id,
      ...(secrets && Sender.standardSignature.sign(id, body, secrets)),
    }),
  };
}

/** A name and a value that a request may have (RFC 9110, section 5): an import may have brought others. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Rounds in which percent-encoding is taken off a path: more than anybody needs. */
const ROUNDS = 5;

/**
 * A decoded path that a target could read as one that is not below the address: with segments that are empty or lead up (some servers
 * drop what follows a semicolon, RFC 3986, section 3.3), controls, bytes that are never in UTF-8, or percent-encoding that is left.
 */
const LEADS_OUT = /[/\\](?:\.{0,2}[/\\;]|\.{1,2}$)|[^ -~\x80-\xbf\xc2-\xff]|%[\dA-Fa-f]{2}/;

/** The path after the operation's name, which the sender chose, unless it may lead out. */
function suffixOf(path: string): string {
  const suffix = /^.*?\/RecordEvent(\/.*)$/s.exec(path)?.[1] ?? '';
  let plain = suffix;
  for (let round = 0; round < ROUNDS; round++) plain = unescapeBuffer(plain).toString('latin1');
  return LEADS_OUT.test(plain) ? '' : suffix;
}

/** Returns the request that brought an event, for an address: its path is followed by what came after the operation's name. */
function receivedMessage(
  event: StoredEvent,
  { pathname, search }: URL,
  { contract, signers }: ReceivedMode,
  id: string,
): PostedMessage {
  const { method, target = '', headers, body } = receivedRequest(event, contract);
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(target) ?? [];
  const suffix = suffixOf(path);
  // Without a prototype: a field may be called `constructor`.
  const sent = Object.create(null) as Record<string, string>;
  for (const [name, value] of headers) {
    if (FIELD_NAME.test(name) && FIELD_VALUE.test(value)) sent[name] = value;
  }
  const sign = signers && signerFor(event, sent, signers);
  const queries = [search.slice(1), query].filter((part) => part !== '').join('&');
  return {
    method,
    path: (suffix === '' ? pathname : pathname.replace(/\/$/, '') + suffix) + (queries === '' ? '' : `?${queries}`),
    body,
    headers: () => ({ ...sent, ...(body && sign?.(sent, id, body)) }),
  };
}

/** Finds the signer of the sender whose signature was verified, or of the one that the request names. */
function signerFor(event: StoredEvent, sent: SentFields, signers: ReadonlyMap<Sender, Signer>): Signer | undefined {
  const { signedBy, sender } = Arrival.of(event);
  const senders = [Sender.named(signedBy), Sender.named(sender) ?? Sender.of(sent)];
  return senders.flatMap((one) => (one && signers.get(one)) ?? [])[0];
}

/** Returns a {@link Signer} that signs as a sender does, or undefined if the text is not a secret of that sender. */
export function signerOf({ signature }: Sender, secret: string): Signer | undefined {
  const secrets = [secret.trim()];
  if (!signature.keysOf(secrets)[0]?.length) return undefined;
  return (sent, id, body) => {
    const own = sent[signature.idField ?? ''] ?? '';
    // With a full stop in the id the signed text could be cut in another place.
    return signature.sign(own === '' || own.includes('.') ? id : own, body, secrets);
  };
}

/** @throws the file cannot be read, or holds no secret of the sender; the message is one line. */
export async function signerIn(file: string, sender: Sender): Promise<Signer> {
  const signer = signerOf(sender, await textOf(file));
  if (signer === undefined) throw new Error(`${file} does not hold a secret of ${sender.name}.`);
  return signer;
}
