import { CloudEventError } from '../events/cloudevents/cloud-event';
import { cloudEventBatchOf, cloudEventOf, parseJsonObject } from '../events/cloudevents/cloud-event-json';
import { hasTooManyParts } from '../events/cloudevents/json-text';
import { HTTP_ERRORS } from '../http/errors';
import type { Content } from '../service/call';
import { binaryModeAttributes, isBinaryMode } from './binary-mode';
import { bodyPayload, bodyText, httpPayload, type HttpInput } from './http-payload';

const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';
const CLOUD_EVENTS = /^application\/cloudevents(?![a-z\d])/;

/**
 * Reads what a caller sent over HTTP GET or POST: a CloudEvent in structured or binary content mode, a batch of CloudEvents
 * (HTTP Protocol Binding 1.0.2), or any other payload.
 *
 * @throws {CloudEventError} the request carries a CloudEvent that is not valid.
 * @throws {RequestError} 415: it carries a CloudEvent in a format other than JSON.
 */
export function httpContent(input: HttpInput): Content {
  const { headers, mediaType, body } = input;
  const essence = mediaType?.essence ?? '';
  if (essence === STRUCTURED) return structured(bodyText(mediaType, body) ?? '');
  if (essence === BATCHED) return { batch: cloudEventBatchOf(bodyText(mediaType, body) ?? '') };
  if (CLOUD_EVENTS.test(essence)) throw HTTP_ERRORS.eventFormat(essence, STRUCTURED, BATCHED);
  if (!isBinaryMode(headers)) return { payload: httpPayload(input) };
  return { attributes: binaryModeAttributes(headers), payload: body.length === 0 ? undefined : bodyPayload(input) };
}

function structured(json: string): Content {
  if (hasTooManyParts(json))
    throw new CloudEventError('The CloudEvent has more than 100,000 objects, arrays and members.');
  return cloudEventOf(json, parseJsonObject(json));
}
