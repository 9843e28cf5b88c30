import type { Contract } from '../contract/contract';
import { Arrival } from '../events/arrival';
import { JsonText } from '../events/cloudevents/json-text';
import { EventData, type FormEntries } from '../events/event-data';
import type { StoredEvent } from '../events/stored-event';
import { MediaType } from '../http/content/media-type';
import { multipartBody } from '../get-post/multipart';
import { SoapVersion } from '../soap/soap-version';

/** The method of a request that may be recorded; the last three with RECORD_PATHS. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request that brought an event, as far as the log keeps it: text in UTF-8, and not compressed. */
interface ReceivedRequest {
  readonly method: Method;
  /** Path and query, in characters that a request may have; undefined if it is not known, and for an event of a batch. */
  readonly target: string | undefined;
  /** Names in lower case, values as Node reads them (ISO 8859-1); without those that may hold a secret, or do not go to another target. */
  readonly headers: Arrival['headers'];
  /** Writes the body, if it has one. */
  readonly body: (() => Buffer) | undefined;
}

const CLOUD_EVENTS = /^\s*application\/cloudevents/i;

/**
 * Restores the request that brought an event. An event of a batch, one that was imported and one that came as a whole CloudEvent is
 * a CloudEvent alone, in structured content mode.
 */
export function receivedRequest(event: StoredEvent, contract: Contract): ReceivedRequest {
  const arrival = new Arrival(event);
  const headers = Arrival.passedOn(arrival.headers);
  const data = EventData.of(event);
  const { binding } = JSON.parse(event.attributes) as { readonly binding?: unknown };
  const contentType = arrival.header('content-type');
  const target = arrival.target === undefined ? undefined : encodedTarget(arrival.target);
  const post = (fields: Arrival['headers'], body?: () => Buffer): ReceivedRequest => ({
    method: binding === 'httppost' && isBelow(arrival.method) ? arrival.method : 'POST',
    target,
    headers: fields,
    body,
  });
  if (arrival.header('host') === undefined || CLOUD_EVENTS.test(contentType ?? '')) {
    const others = headers.filter(([name]) => name !== 'content-type');
    const own = [...others, ['content-type', 'application/cloudevents+json; charset=utf-8'] as const];
    return { ...post(own, () => structuredEvent(event)), method: 'POST', target: undefined };
  }
  if (binding === 'soap11' || binding === 'soap12')
    return post(withUtf8(headers), () => soapBody(data, arrival, contract, binding));
  if (arrival.method === 'GET' || arrival.method === 'HEAD')
    return { method: arrival.method, target, headers, body: undefined };
  if (data === undefined || arrival.sentAs === 'query') return post(headers);
  return post(withUtf8(headers), () => httpBody(data, arrival, event));
}

/** An import may have brought any text. */
function isBelow(method: string | undefined): method is 'PUT' | 'PATCH' | 'DELETE' {
  return method === 'PUT' || method === 'PATCH' || method === 'DELETE';
}

/** Writes an event as a CloudEvent in the JSON format, without the attribute that the log added. */
function structuredEvent({ attributes, data }: StoredEvent): Buffer {
  const members = [...(new JsonText(attributes).members() ?? [])]
    .filter(([name]) => name !== 'binding')
    .map(([, { text }]) => text);
  return Buffer.from(`{${[...members, ...(data === undefined ? [] : [data])].join(',')}}`);
}

/** Writes the message of a call anew. Its payload has the namespaces that were declared around it. */
function soapBody(
  data: EventData | undefined,
  { isSoapBody }: Arrival,
  contract: Contract,
  binding: 'soap11' | 'soap12',
): Buffer {
  const message = SoapVersion[binding].request(RECORD_EVENT, contract, false);
  const payload = data?.bytes().toString() ?? '';
  if (payload === '') return Buffer.from(message);
  if (isSoapBody)
    return Buffer.from(
      message.replace(/(:Body>).*(<\/[^<]*<\/[^<]*)$/s, (_all, start, end) => [start, payload, end].join('')),
    );
  // The tag is empty: `<RecordEvent xmlns="…" />`. With a prefix its namespace does not become that of elements that have none.
  const tag = payload.includes('<') ? 'w:RecordEvent xmlns:w' : 'RecordEvent xmlns';
  return Buffer.from(
    message.replace(
      /<RecordEvent xmlns(=".*?") ?\/>/,
      (_tag, namespace) => `<${tag}${String(namespace)}>${payload}</${tag.replace(/ .*/, '')}>`,
    ),
  );
}

/** The operation whose calls the log keeps. */
const RECORD_EVENT = 'RecordEvent';

function httpBody(data: EventData, arrival: Arrival, { attributes }: StoredEvent): Buffer {
  const { datacontenttype } = JSON.parse(attributes) as { readonly datacontenttype?: unknown };
  const type = arrival.header('content-type') ?? '';
  if (data.kind === 'text' && isJsonType(datacontenttype)) return Buffer.from(`"${data.encoded}"`);
  if (data.kind !== 'json' || arrival.sentAs === 'json') return data.bytes();
  const { isMultipart, isForm } = MediaType.parse(type) ?? {};
  if (isMultipart) return multipartBody(data.encoded, type) ?? data.bytes();
  return (isForm ? formBody(data.form()) : undefined) ?? data.bytes();
}

/** Whether a `datacontenttype` is one of JSON. */
export function isJsonType(contentType: unknown): boolean {
  return typeof contentType === 'string' && MediaType.parse(contentType)?.isJson === true;
}

/** Only forms of another type have files. */
function formBody(fields: FormEntries | undefined): Buffer | undefined {
  const texts = fields?.flatMap(([name, values]) =>
    values.flatMap((value): [string, string][] => (typeof value === 'string' ? [[name, value]] : [])),
  );
  return texts && Buffer.from(new URLSearchParams(texts).toString());
}

/** Names UTF-8 as the character set, in which text is sent again. XML needs it, since its declaration may name another. */
function withUtf8(headers: Arrival['headers']): Arrival['headers'] {
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
