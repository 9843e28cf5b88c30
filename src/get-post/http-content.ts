import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { unescapeBuffer } from 'node:querystring';
import {
  attributeProblem,
  CloudEventError,
  cloudEvent,
  cloudEventBatch,
  senderAttributes,
  type SenderAttributes,
} from '../events/cloudevents/cloud-event';
import { hasTooManyParts } from '../events/cloudevents/json-text';
import { HTTP_ERRORS } from '../http/errors';
import type { CallContent } from '../service/call';
import type { Steps } from '../util/promises';
import { bodyPayload, bodyText, httpPayload, type HttpInput } from './http-payload';

const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';
const CLOUD_EVENTS = /^application\/cloudevents(?![a-z\d])/;

/**
 * Reads what a caller sent over HTTP GET or POST: a CloudEvent in structured or binary content mode, a batch of CloudEvents
 * (HTTP Protocol Binding 1.0.2), or any other payload. Beside a signature, which covers the body alone, `ce-` fields do not count.
 *
 * @throws {CloudEventError} the request carries a CloudEvent that is not valid.
 * @throws {RequestError} 415: it carries a CloudEvent in a format other than JSON.
 */
export function* httpContent(input: HttpInput): Steps<CallContent> {
  const { headers, mediaType, body, signedBy } = input;
  const essence = mediaType?.essence ?? '';
  if (essence === STRUCTURED) return yield* structured((yield* bodyText(mediaType, body)) ?? '');
  if (essence === BATCHED) return { batch: yield* cloudEventBatch((yield* bodyText(mediaType, body)) ?? '') };
  if (CLOUD_EVENTS.test(essence)) throw HTTP_ERRORS.eventFormat(essence, STRUCTURED, BATCHED);
  if (signedBy !== undefined || !isBinaryMode(headers)) return { payload: yield* httpPayload(input) };
  const attributes = binaryModeAttributes(headers);
  return { attributes, payload: body.length === 0 ? undefined : yield* bodyPayload(input) };
}

function* structured(json: string): Steps<CallContent> {
  if (hasTooManyParts(json))
    throw new CloudEventError('The CloudEvent has more than 100,000 objects, arrays and members.');
  return yield* cloudEvent(json);
}

const PREFIX = 'ce-';

/** The attributes that every CloudEvent has. One of them as a header field announces an event in binary content mode. */
const REQUIRED = ['specversion', 'id', 'source', 'type'];

/** Names that CloudEvents gives to the data, which binary content mode has in the body. */
const DATA_NAMES = ['data', 'data_base64'];

/** Whether header fields announce a CloudEvent in binary content mode (HTTP Protocol Binding 1.0.2, section 3). */
export function isBinaryMode(headers: IncomingHttpHeaders): boolean {
  return REQUIRED.some((name) => headers[PREFIX + name] !== undefined);
}

/**
 * Reads the attributes of a CloudEvent from `ce-` header fields and `datacontenttype` from `Content-Type` (section 3.1).
 *
 * @throws {CloudEventError} one of them is not valid.
 */
export function binaryModeAttributes(headers: IncomingHttpHeaders): SenderAttributes {
  const given = Object.entries(headers).flatMap(([field, value]) => {
    if (!field.startsWith(PREFIX)) return [];
    const name = field.slice(PREFIX.length);
    if (DATA_NAMES.includes(name))
      throw new CloudEventError(`The CloudEvent's ${name} must be the body of the request, not the field ${field}.`);
    return [[name, attributeValue(name, String(value))] as const];
  });
  return senderAttributes({ ...Object.fromEntries(given), datacontenttype: headers['content-type'] });
}

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/;
const BAD_ESCAPE = /%(?![\da-f]{2})/i;

/**
 * Decodes a header value (section 3.1.3.2): the quotes and backslashes of a quoted string first, then percent-encoded
 * UTF-8. Characters outside of ASCII, which should have been percent-encoded, are taken as UTF-8 too. Some senders do not
 * percent-encode: what is not an escape, or would make the attribute invalid (`/a%20b` as the source), stays as it came.
 */
function attributeValue(name: string, value: string): string {
  const quoted = QUOTED.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replace(/\\(.)/g, '$1');
  const bytes = unescapeBuffer(text);
  if (!isUtf8(bytes))
    throw new CloudEventError(`The CloudEvent's attribute ${name} must be percent-encoded UTF-8 in a header field.`);
  const decoded = bytes.toString();
  if (!text.includes('%')) return decoded;
  const isEncoded = !BAD_ESCAPE.test(text) && attributeProblem(name, decoded) === undefined;
  return isEncoded ? decoded : Buffer.from(text, 'latin1').toString();
}
