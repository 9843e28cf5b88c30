import { memberTexts } from '../../events/cloudevents/json-text';
import type { StoredEvent } from '../../events/stored-event';
import type { Contract } from '../../contract/contract';
import { mayBeSecret } from '../../util/text';
import { SENDERS, typeOf, type Members, type Sender } from '../../senders/senders';
import { FORM, parseFormFields } from '../../get-post/http-payload';
import { SOAP_11, SOAP_12, soapRequest } from '../../soap/soap-version';
import { SHORT_BODY, type CurlRequest } from '../curl-command';
import { dataBytes, eventData, isForm, type EventData } from './event-data';

/** The endpoint to which the request goes. */
export interface EndpointAddress {
  readonly contract: Contract;
  /** The public URL of the service, without the path of the endpoint. */
  readonly base: string;
  readonly path: string;
  /** Whether recording needs a key, for which the request has `KEY`. */
  readonly needsKey: boolean;
}

/** Most characters in the log for a byte of a body. */
const MAX_GROWTH = 6;

/** Fields that belong to one connection or one message, or that a proxy or browser added. */
const NOT_SENT_AGAIN =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|content-encoding|accept-encoding|forwarded|x-forwarded-.*|x-real-ip|x-request-id|via|origin|referer|sec-.*)$/;

const CLOUD_EVENTS = /^\s*application\/cloudevents/i;

/**
 * Writes the request that sends an event again: over the same binding, with the header fields that it came with, text in
 * UTF-8. An event of a batch, or one that was imported, is sent as a CloudEvent alone.
 */
export function requestAgain(event: StoredEvent, address: EndpointAddress): CurlRequest {
  const request = keylessRequest(event, address);
  return address.needsKey ? { ...request, headers: [...request.headers, ['x-api-key', 'KEY']] } : request;
}

/** Header fields by whose values a log records a request once. */
const KEY_FIELDS: ReadonlySet<string> = new Set([
  'idempotency-key',
  'webhook-id',
  'svix-id',
  'ce-id',
  ...SENDERS.flatMap(({ key }) => key?.name ?? []),
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
  const data = event.data === undefined ? undefined : eventData(event.data);
  if (typeof type !== 'string' || data?.kind !== 'json' || data.encoded.length > MAX_GROWTH * SHORT_BODY)
    return undefined;
  const { headers } = arrivalOf(event);
  const body = JSON.parse(data.encoded) as Members | null;
  const isItsType = (sender: Sender) => typeOf(sender, Object.fromEntries(headers), body ?? {}) === type;
  const lost = SENDERS.some((sender) => mayBeSecret(sender.field) && isItsType(sender));
  return lost && headerOf({ headers }, 'ce-id') === undefined ? type : undefined;
}

/**
 * Puts a new id in the place of each by which a log would know the request of {@link requestAgain}: in its header fields, and of a
 * CloudEvent in its body.
 *
 * @returns undefined if it has none, or it is in a body that is too long for a command.
 */
export function withFreshId(event: StoredEvent, request: CurlRequest, id: string): CurlRequest | undefined {
  const isStructured = CLOUD_EVENTS.test(headerOf(request, 'content-type') ?? '');
  if (!isStructured && !request.headers.some(([name]) => KEY_FIELDS.has(name))) return undefined;
  const headers = request.headers.map(([name, value]) => [name, KEY_FIELDS.has(name) ? id : value] as const);
  if (!isStructured) return { ...request, headers };
  if (request.body === undefined || request.body.isLong || request.body.bytes().length > SHORT_BODY) return undefined;
  return { ...request, headers, body: { isLong: false, bytes: () => structuredEvent(event, id) } };
}

function keylessRequest(event: StoredEvent, { contract, base, path: endpointPath }: EndpointAddress): CurlRequest {
  const arrival = arrivalOf(event);
  const data = event.data === undefined ? undefined : eventData(event.data);
  const { binding } = JSON.parse(event.attributes) as { readonly binding?: unknown };
  const contentType = headerOf(arrival, 'content-type');
  const kept = arrival.headers.filter(([name]) => !NOT_SENT_AGAIN.test(name));
  const isLong = (data?.encoded.length ?? 0) > MAX_GROWTH * SHORT_BODY;
  const url = base + encodedTarget(arrival.target ?? endpointPath);
  const post = (headers: CurlRequest['headers'], bytes?: () => Buffer): CurlRequest => ({
    method: 'POST',
    url,
    headers,
    body: bytes && { isLong, bytes },
  });
  if (binding === 'soap11' || binding === 'soap12')
    return post(withUtf8(kept), () => soapBody(data, contract, binding));
  if (arrival.method === 'GET') return { method: 'GET', url, headers: kept, body: undefined };
  if (headerOf(arrival, 'host') === undefined || CLOUD_EVENTS.test(contentType ?? '')) {
    const others = kept.filter(([name]) => name !== 'content-type');
    const headers = [...others, ['content-type', 'application/cloudevents+json; charset=utf-8'] as const];
    return { ...post(headers, () => structuredEvent(event)), url: `${base}${endpointPath}/RecordEvent` };
  }
  if (data === undefined || isQuery(data, arrival.target)) return post(kept);
  return post(withUtf8(kept), () => httpBody(data, contentType));
}

/** The value of a header field, by its name in lower case. */
export function headerOf({ headers }: Pick<ArrivalView, 'headers'>, name: string): string | undefined {
  return headers.find(([field]) => field === name)?.[1];
}

/** Whether a request sends a CloudEvent with an id of its own, in structured or binary mode. */
export function isCloudEvent({ headers }: Pick<CurlRequest, 'headers'>): boolean {
  return headers.some(([name, value]) => name === 'ce-id' || (name === 'content-type' && CLOUD_EVENTS.test(value)));
}

/** Writes an event as a CloudEvent in the JSON format, without the attribute that the log added, with its own id or another one. */
function structuredEvent({ attributes, data }: StoredEvent, id?: string): Buffer {
  const members = [...memberTexts(attributes)]
    .filter(([name]) => name !== 'binding')
    .map(([name, { text }]) => (name === 'id' && id !== undefined ? `"id":${JSON.stringify(id)}` : text));
  return Buffer.from(`{${[...members, ...(data === undefined ? [] : [data])].join(',')}}`);
}

function soapBody(data: EventData | undefined, contract: Contract, binding: 'soap11' | 'soap12'): Buffer {
  const version = binding === 'soap11' ? SOAP_11 : SOAP_12;
  const message = soapRequest(RECORD_EVENT, contract, version, false);
  const content = data === undefined ? '' : dataBytes(data).toString();
  return Buffer.from(message.replace(/ ?\/>/, () => `>${content}</${RECORD_EVENT}>`));
}

/** The operation whose calls the log keeps. */
const RECORD_EVENT = 'RecordEvent';

function httpBody(data: EventData, contentType: string | undefined): Buffer {
  if (data.kind === 'json' && contentType?.toLowerCase().startsWith(FORM) === true) {
    const fields: unknown = JSON.parse(data.encoded);
    if (isForm(fields)) return Buffer.from(formText(fields));
  }
  return dataBytes(data);
}

function formText(fields: Readonly<Record<string, string | readonly string[]>>): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((text): [string, string] => [name, text]),
  );
  return new URLSearchParams(pairs).toString();
}

/** Whether the payload came from the query, so that the request had no body. */
function isQuery(data: EventData, target = ''): boolean {
  const query = target.slice(target.indexOf('?') + 1);
  if (query === target || query.length > 2 * data.encoded.length + 64) return false;
  const fields = parseFormFields(query);
  return data.kind === 'json' && fields !== undefined && JSON.stringify(fields.values) === data.encoded;
}

/** Names UTF-8 as the character set, in which text is sent again. XML needs it, since its declaration may name another. */
function withUtf8(headers: CurlRequest['headers']): CurlRequest['headers'] {
  return headers.map(([name, value]) => {
    if (name !== 'content-type') return [name, value];
    const named = value.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^;\s]*)/i, '; charset=utf-8');
    return [name, isXmlType(value) && named === value && !/charset/i.test(value) ? `${value}; charset=utf-8` : named];
  });
}

/** Whether a content type is one of XML (RFC 7303). */
export function isXmlType(contentType: string): boolean {
  return /^[^;]*[/+]xml\s*(?:;|$)/i.test(contentType);
}

/** Escapes the characters that request targets may contain and URLs may not. */
function encodedTarget(target: string): string {
  return target.replace(/[^!$-~]/g, (character) => {
    const bytes = [...Buffer.from(character, 'latin1')];
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

/** How an event arrived. Events that were imported may have none of it. */
export interface ArrivalView {
  readonly method: string | undefined;
  /** Path and query. */
  readonly target: string | undefined;
  readonly remoteAddress: string | undefined;
  /** The name of the sender whose signature was verified. */
  readonly signedBy: string | undefined;
  /** Names in lower case; without those that may hold a secret. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Reads how an event arrived. */
export function arrivalOf({ arrival }: Pick<StoredEvent, 'arrival'>): ArrivalView {
  const { method, path, remoteAddress, signedBy, headers } = JSON.parse(arrival) as Readonly<Record<string, unknown>>;
  const fields = typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  return {
    method: text(method),
    target: text(path),
    remoteAddress: text(remoteAddress),
    signedBy: text(signedBy),
    headers: fields.flatMap(([name, value]) =>
      [value].flat().flatMap((one: unknown) => (typeof one === 'string' ? [[name, asUtf8(one)] as const] : [])),
    ),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Node reads header fields as ISO 8859-1; most that are not ASCII were meant as UTF-8. */
function asUtf8(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  const read = bytes.toString();
  return bytes.toString('latin1') === value && Buffer.from(read).equals(bytes) ? read : value;
}
