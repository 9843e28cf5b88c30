import type { IncomingHttpHeaders } from 'node:http';
import { CloudEventError, senderAttributes } from '../events/cloud-event';
import { memberText } from '../events/json-text';
import type { Payload } from '../events/event';
import { parseMediaType } from '../http/media-type';
import type { Content } from '../service/call';
import { bodyPayload, bodyText, httpPayload, type HttpInput } from './http-payload';

/**
 * Reads what a caller over HTTP GET or POST said: a CloudEvent (HTTP Protocol Binding 1.0) in structured or binary content
 * mode, or anything else.
 *
 * @throws {CloudEventError} it is a CloudEvent that is not valid.
 */
export function httpContent(input: HttpInput): Content {
  const { headers, body } = input;
  if (parseMediaType(headers['content-type'])?.essence === 'application/cloudevents+json') {
    return structured(bodyText(headers['content-type'], body));
  }
  return isBinary(headers) ? binary(input) : { payload: httpPayload(input) };
}

/** Structured content mode (HTTP Protocol Binding, section 3.2): the body is the event in the JSON format. */
export function structured(json: string | undefined): Content {
  const { data, data_base64: base64, ...given } = parsedObject(json);
  const attributes = senderAttributes(given);
  if (base64 === undefined || base64 === null) {
    const text = data === undefined ? undefined : memberText(json ?? '', 'data');
    return { attributes, payload: text === undefined ? undefined : { mediaType: undefined, json: text } };
  }
  if (data !== undefined) throw new CloudEventError('The CloudEvent has both data and data_base64.');
  if (typeof base64 !== 'string' || base64.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(base64)) {
    throw new CloudEventError("The CloudEvent's member data_base64 must be a base64 string.");
  }
  return { attributes, payload: { mediaType: undefined, bytes: Buffer.from(base64, 'base64') } };
}

function parsedObject(json: string | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(json ?? '');
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch {
    // Told below, as for JSON that is no object.
  }
  throw new CloudEventError('The CloudEvent is not a JSON object.');
}

const REQUIRED = ['specversion', 'id', 'source', 'type'];

function isBinary(headers: IncomingHttpHeaders): boolean {
  return REQUIRED.some((name) => headers[`ce-${name}`] !== undefined);
}

/** Binary content mode (HTTP Protocol Binding, section 3.1): attributes in `ce-` fields, data in the body. */
function binary({ headers, body }: HttpInput): Content {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('ce-') ? [[name.slice('ce-'.length), attributeValue(String(value))] as const] : [],
  );
  const contentType = headers['content-type'];
  const payload: Payload | undefined = body.length === 0 ? undefined : bodyPayload(contentType, body);
  return { attributes: senderAttributes({ ...Object.fromEntries(given), datacontenttype: contentType }), payload };
}

/** Undoes the percent-encoding of a header value (HTTP Protocol Binding, section 3.1.3.2). */
function attributeValue(value: string): string {
  try {
    return decodeURIComponent(value.replace(/^"((?:[^"\\]|\\.)*)"$/, '$1'));
  } catch {
    return value;
  }
}
