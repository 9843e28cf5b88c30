import type { IncomingHttpHeaders } from 'node:http';
import { CloudEventError, senderAttributes } from '../events/cloud-event';
import { cloudEventOf, parseJsonObject } from '../events/cloud-event-json';
import type { Payload } from '../events/data-member';
import { parseMediaType } from '../http/media-type';
import type { Content } from '../service/call';
import { bodyPayload, bodyText, hasTooManyParts, httpPayload, type HttpInput } from './http-payload';

/**
 * Reads what a caller over HTTP GET or POST said: a CloudEvent (HTTP Protocol Binding 1.0) in structured or binary content
 * mode, or anything else.
 *
 * @throws {CloudEventError} it is a CloudEvent that is not valid.
 */
export function httpContent(input: HttpInput): Content {
  const { headers, body } = input;
  if (parseMediaType(headers['content-type'])?.essence === 'application/cloudevents+json') {
    const json = bodyText(headers['content-type'], body);
    if (json !== undefined && hasTooManyParts(json))
      throw new CloudEventError('The CloudEvent has more than 100,000 objects, arrays and members.');
    return cloudEventOf(json ?? '', parseJsonObject(json));
  }
  return isBinary(headers) ? binary(input) : { payload: httpPayload(input) };
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
