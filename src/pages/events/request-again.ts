import { Arrival } from '../../events/arrival';
import { EventData } from '../../events/event-data';
import type { StoredEvent } from '../../events/stored-event';
import type { Contract } from '../../contract/contract';
import { mayBeSecret } from '../../util/text';
import { Sender } from '../../senders/sender';
import { SHORT_BODY, type CurlRequest } from '../curl-command';
import { CLOUD_EVENTS, isLongData, receivedRequest, structuredEvent } from '../received-request';

/** The endpoint to which the request goes. */
export interface EndpointAddress {
  readonly contract: Contract;
  /** The public URL of the service, without the path of the endpoint. */
  readonly base: string;
  readonly path: string;
  /** Whether recording needs a key, for which the request has `KEY`. */
  readonly needsKey: boolean;
}

/** Fields that belong to one connection or one message, or that a proxy or browser added. */
const NOT_SENT_AGAIN =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|content-encoding|accept-encoding|forwarded|x-forwarded-.*|x-real-ip|x-request-id|via|origin|referer|sec-.*)$/;

/**
 * Writes the request that sends an event again: over the same binding, with the header fields that it came with, text in
 * UTF-8. An event of a batch, or one that was imported, is sent as a CloudEvent alone.
 */
export function requestAgain(event: StoredEvent, address: EndpointAddress): CurlRequest {
  const { method, target = `${address.path}/RecordEvent`, headers, body } = receivedRequest(event, address.contract);
  const kept = Arrival.readable(headers).filter(([name]) => !NOT_SENT_AGAIN.test(name));
  const key = address.needsKey ? [['x-api-key', 'KEY'] as const] : [];
  return { method, url: address.base + target, headers: [...kept, ...key], body };
}

/** Header fields by whose values a log records a request once. */
const KEY_FIELDS: ReadonlySet<string> = new Set([
  'idempotency-key',
  'webhook-id',
  'svix-id',
  'ce-id',
  ...Sender.all.flatMap(({ keyName }) => keyName ?? []),
]);

/** Whether a request has the key by which a log knows it. That of Stripe and Slack is in the body. */
export function hasKey({ headers }: Pick<CurlRequest, 'headers'>): boolean {
  return headers.some(([name]) => name !== 'ce-id' && KEY_FIELDS.has(name));
}

/**
 * The type that an event of a known sender has lost in its request: that sender is recognised by its signature alone, which the
 * log does not keep. Undefined if it keeps its type.
 */
export function lostType(event: StoredEvent): string | undefined {
  const { type } = JSON.parse(event.attributes) as { readonly type?: unknown };
  const data = EventData.of(event);
  if (typeof type !== 'string' || data?.kind !== 'json' || isLongData(data)) return undefined;
  const arrival = new Arrival(event);
  const body = JSON.parse(data.encoded) as Readonly<Record<string, unknown>> | null;
  const headers = Object.fromEntries(arrival.headers);
  const lost = Sender.all.some(
    (sender) => mayBeSecret(sender.field ?? '') && sender.typeOf(headers, body ?? {}) === type,
  );
  return lost && arrival.header('ce-id') === undefined ? type : undefined;
}

/**
 * Puts a new id in the place of each by which a log would know the request of {@link requestAgain}: in its header fields, and of a
 * CloudEvent in its body.
 *
 * @returns undefined if it has none, or it is in a body that is too long for a command.
 */
export function withFreshId(event: StoredEvent, request: CurlRequest, id: string): CurlRequest | undefined {
  const isStructured = request.headers.some(isStructuredMode);
  if (!isStructured && !request.headers.some(([name]) => KEY_FIELDS.has(name))) return undefined;
  const headers = request.headers.map(([name, value]) => [name, KEY_FIELDS.has(name) ? id : value] as const);
  if (!isStructured) return { ...request, headers };
  if (request.body === undefined || request.body.isLong || request.body.bytes().length > SHORT_BODY) return undefined;
  return { ...request, headers, body: { isLong: false, bytes: () => structuredEvent(event, id) } };
}

/** Whether a request sends a CloudEvent with an id of its own, in structured or binary mode. */
export function isCloudEvent({ headers }: Pick<CurlRequest, 'headers'>): boolean {
  return headers.some(([name, value]) => name === 'ce-id' || isStructuredMode([name, value]));
}

function isStructuredMode([name, value]: CurlRequest['headers'][number]): boolean {
  return name === 'content-type' && CLOUD_EVENTS.test(value);
}
