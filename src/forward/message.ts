import { createHash } from 'node:crypto';
import { unescapeBuffer } from 'node:querystring';
import { VERSION } from '../config/package-info';
import type { Contract } from '../contract/contract';
import { eventJson, type StoredEvent } from '../events/stored-event';
import { receivedRequest } from '../pages/received-request';
import { Sender } from '../senders/sender';
import type { SentFields, Signer } from './signing';

/** How events are posted. */
export interface PostedForm {
  /** Secrets that sign each attempt (Standard Webhooks). Without them attempts are not signed. */
  readonly secrets?: readonly string[] | undefined;
  /** The request as it arrived, without the signature of {@link secrets}. */
  readonly asReceived?: ReceivedForm | undefined;
}

/** How requests are sent as they arrived. */
export interface ReceivedForm {
  /** Has the namespace of SOAP calls whose envelope the log does not have. */
  readonly contract: Contract;
  /** Signs each attempt anew. */
  readonly sign?: Signer | undefined;
}

/** A request with an event. */
interface PostedMessage {
  readonly method: string;
  /** Path and query; undefined: those of the address. */
  readonly path: string | undefined;
  readonly body: Buffer | undefined;
  /** Returns the header fields of an attempt: a signature has the time of its attempt. */
  readonly headers: () => SentFields;
}

/**
 * Returns the request that posts an event to an address: the CloudEvent in structured content mode (CloudEvents HTTP binding 1.0.2,
 * section 3.2), or the request that brought it. The `webhook-id` of the first is the same whenever this event is sent, so that the
 * target can tell a repetition.
 */
export function messageOf(event: StoredEvent, address: URL, { secrets, asReceived }: PostedForm): PostedMessage {
  const id = webhookId(event);
  if (asReceived !== undefined) return receivedMessage(event, address, asReceived, id);
  const body = Buffer.from(eventJson(event));
  return {
    method: 'POST',
    path: undefined,
    body,
    headers: () => ({
      'User-Agent': `asmx-webhook/${VERSION}`,
      'Content-Type': 'application/cloudevents+json',
      'webhook-id': id,
      ...(secrets && Sender.standardHeaders(secrets, id, body)),
    }),
  };
}

/** Made of `source` and `id`, which name an event together and may hold what a header field may not. */
function webhookId({ source, id }: StoredEvent): string {
  return `evt_${createHash('sha256')
    .update(JSON.stringify([source, id]))
    .digest('base64url')}`;
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
