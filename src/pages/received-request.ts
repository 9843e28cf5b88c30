import type { Contract } from '../contract/contract';
import { Arrival } from '../events/arrival';
import { JsonText } from '../events/cloudevents/json-text';
import { EventData } from '../events/payload';
import type { StoredEvent } from '../events/stored-event';
import { MediaType } from '../http/content/media-type';
import { SoapVersion } from '../soap/soap-version';

/** A request that brought an event, as far as the log keeps it: text in UTF-8, and not compressed. */
interface ReceivedRequest {
  readonly method: string;
  /** Path and query, in characters that a request may have; undefined for a CloudEvent alone. */
  readonly target: string | undefined;
  /** Names in lower case, values as Node reads them (ISO 8859-1); without those that may hold a secret, or do not go to another target. */
  readonly headers: Arrival['headers'];
  readonly body: Buffer | undefined;
}

const CLOUD_EVENTS = /^\s*application\/cloudevents/i;

/**
 * Restores the request that brought an event. An event of a batch, one that was imported and one that came as a whole CloudEvent is
 * a CloudEvent alone, in structured content mode.
 */
export function receivedRequest(event: StoredEvent, contract: Contract): ReceivedRequest {
  const arrival = Arrival.of(event);
  const headers = Arrival.passedOn(arrival.headers);
  const data = EventData.of(event);
  const { binding } = JSON.parse(event.attributes) as { readonly binding?: unknown };
  const contentType = arrival.header('content-type');
  const target = arrival.target === undefined ? undefined : encodedTarget(arrival.target);
  if (arrival.header('host') === undefined || CLOUD_EVENTS.test(contentType ?? '')) {
    const others = headers.filter(([name]) => name !== 'content-type');
    const own = [...others, ['content-type', 'application/cloudevents+json; charset=utf-8'] as const];
    return { method: 'POST', target: undefined, headers: own, body: structuredEvent(event) };
  }
  if (binding === 'soap11' || binding === 'soap12')
    return { method: 'POST', target, headers: withUtf8(headers), body: soapBody(data, arrival, contract, binding) };
  // An import may have brought any text.
  const methods = ['GET', 'HEAD', ...(binding === 'httppost' ? ['PUT', 'PATCH', 'DELETE'] : [])];
  const method = methods.find((one) => one === arrival.method) ?? 'POST';
  const isEmpty = data === undefined || arrival.sentAs === 'query' || method === 'GET' || method === 'HEAD';
  if (isEmpty) return { method, target, headers, body: undefined };
  const fields = data.kind === 'bytes' ? headers : withUtf8(headers);
  return { method, target, headers: fields, body: httpBody(data, arrival, event) };
}

/** Writes an event as a CloudEvent in the JSON format, without the attribute that the log added. */
function structuredEvent({ attributes, data }: StoredEvent): Buffer {
  const members = [...(new JsonText(attributes).members() ?? [])]
    .filter(([name]) => name !== 'binding')
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return Buffer.from(`{${[...members, ...(data === undefined ? [] : [data])].join(',')}}`);
}

/** Writes the message of a call anew. Its payload has the namespaces that were declared around it. */
function soapBody(
  data: EventData | undefined,
  { soapPart }: Arrival,
  contract: Contract,
  binding: 'soap11' | 'soap12',
): Buffer {
  const message = SoapVersion[binding].request('RecordEvent', contract.namespace, false);
  const payload = data?.bytes().toString() ?? '';
  // The element is empty: `<RecordEvent xmlns="…" />`.
  const [element = '', namespace = ''] = /<RecordEvent xmlns(=".*?") ?\/>/.exec(message) ?? [];
  // With a prefix its namespace does not become that of elements that have none.
  const name = payload.includes('<') ? 'w:RecordEvent' : 'RecordEvent';
  const declared = payload.includes('<') ? 'xmlns:w' : 'xmlns';
  if (soapPart === 'envelope') return Buffer.from(message.replace(/<(\w+:Body)>.*<\/\1>/s, () => payload));
  const full = soapPart === 'body' ? payload : `<${name} ${declared}${namespace}>${payload}</${name}>`;
  return Buffer.from(payload === '' ? message : message.replace(element, () => full));
}

function httpBody(data: EventData, arrival: Arrival, event: StoredEvent): Buffer {
  if (data.kind === 'text' && dataTypeOf(event)?.isJson) return Buffer.from(`"${data.encoded}"`);
  if (data.kind !== 'json' || arrival.sentAs === 'json') return data.bytes();
  const mediaType = MediaType.parse(arrival.header('content-type'));
  if (mediaType?.isMultipart) return multipartBody(data.form(), mediaType) ?? data.bytes();
  return (mediaType?.isForm ? formBody(data.form()) : undefined) ?? data.bytes();
}

/** The media type of an event's data, as its attributes say. */
export function dataTypeOf({ attributes }: StoredEvent): MediaType | undefined {
  const { datacontenttype } = JSON.parse(attributes) as { readonly datacontenttype?: unknown };
  return typeof datacontenttype === 'string' ? MediaType.parse(datacontenttype) : undefined;
}

type Form = ReturnType<EventData['form']>;

/** Only forms of another type have files. */
function formBody(fields: Form): Buffer | undefined {
  const texts = fields?.flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return texts && Buffer.from(new URLSearchParams(texts).toString());
}

/** Writes a form with files. Returns undefined for what is none. */
export function multipartBody(fields: Form, { boundary }: MediaType): Buffer | undefined {
  if (boundary === undefined || fields === undefined) return undefined;
  const pieces: (string | Buffer)[] = [];
  for (const [name, value] of fields) {
    const file = typeof value === 'string' ? undefined : value;
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`);
    if (file?.filename !== undefined) pieces.push(`; filename="${quoted(file.filename)}"`);
    if (file?.contentType !== undefined) pieces.push(`\r\nContent-Type: `, Buffer.from(file.contentType, 'latin1'));
    pieces.push('\r\n\r\n', typeof value === 'string' ? value : Buffer.from(value.base64, 'base64'), '\r\n');
  }
  pieces.push(`--${boundary}--\r\n`);
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

/** As browsers write it (HTML, section 4.10.21.8). */
function quoted(text: string): string {
  return text.replace(/[\r\n"]/g, encodeURIComponent);
}

/** Names UTF-8 as the character set; for XML also if none was named, since its declaration may name another. */
function withUtf8(headers: Arrival['headers']): Arrival['headers'] {
  return headers.map(([name, value]) => {
    if (name !== 'content-type') return [name, value];
    const named = value.replace(/;\s*charset\s*=\s*(?:"[^"]*"|[^;\s]*)/i, '; charset=utf-8');
    const isNamed = named !== value || /charset/i.test(value);
    return [name, MediaType.parse(value)?.isXml && !isNamed ? `${value}; charset=utf-8` : named];
  });
}

/** Escapes the characters, of a byte each, that request targets may contain and URLs may not. */
function encodedTarget(target: string): string {
  return target.replace(/[^!$-~]/g, (one) => `%${Buffer.from(one, 'latin1').toString('hex').toUpperCase()}`);
}
