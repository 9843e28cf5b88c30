import { SentEvent } from '../events/cloudevents/sent-event';
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
  if (essence === STRUCTURED) return yield* SentEvent.structured((yield* input.text()) ?? '');
  if (essence === BATCHED) return { batch: yield* SentEvent.batched((yield* input.text()) ?? '') };
  if (CLOUD_EVENTS.test(essence)) throw HTTP_ERRORS.eventFormat(essence, STRUCTURED, BATCHED);
  const attributes = signedBy === undefined ? SentEvent.binaryAttributes(headers) : undefined;
  if (attributes === undefined)
    return { payload: (yield* multipartPayload(mediaType, body)) ?? (yield* input.payload()) };
  return { attributes, payload: body.length === 0 ? undefined : yield* input.bodyPayload() };
}
