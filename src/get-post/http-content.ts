import { binaryModeAttributes } from '../events/cloudevents/binary-mode';
import { CloudEventError, cloudEvent, cloudEventBatch } from '../events/cloudevents/cloud-event';
import { JsonText } from '../events/cloudevents/json-text';
import { HTTP_ERRORS } from '../http/errors';
import type { CallContent } from '../service/call';
import type { Steps } from '../util/promises';
import type { HttpInput } from './http-input';
import { multipartPayload } from './multipart';

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
  if (essence === STRUCTURED) return yield* structured((yield* input.text()) ?? '');
  if (essence === BATCHED) return { batch: yield* cloudEventBatch((yield* input.text()) ?? '') };
  if (CLOUD_EVENTS.test(essence)) throw HTTP_ERRORS.eventFormat(essence, STRUCTURED, BATCHED);
  const attributes = signedBy === undefined ? binaryModeAttributes(headers) : undefined;
  if (attributes === undefined)
    return { payload: (yield* multipartPayload(mediaType, body)) ?? (yield* input.payload()) };
  return { attributes, payload: body.length === 0 ? undefined : yield* input.bodyPayload() };
}

function* structured(json: string): Steps<CallContent> {
  if (new JsonText(json).hasTooManyParts())
    throw new CloudEventError('The CloudEvent has more than 100,000 objects, arrays and members.');
  return yield* cloudEvent(json);
}
