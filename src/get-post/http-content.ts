import { eventPayload } from '../events/payload';
import { EventFactory, type EventContent } from '../events/event';
import { SentEvent } from '../events/cloudevents/sent-event';
import { HTTP_ERRORS } from '../http/errors';
import { MediaType } from '../http/content/media-type';
import { Sender } from '../senders/sender';
import type { CallContent } from '../service/call';
import { HttpInput } from './http-input';
import { multipartPayload } from './multipart';

const STRUCTURED = 'application/cloudevents+json';
const BATCHED = 'application/cloudevents-batch+json';
const CLOUD_EVENTS = /^application\/cloudevents(?![a-z\d])/;

type Sent = Partial<SentEvent>;

function sentContent(input: HttpInput, isSigned: boolean): Sent | { readonly batch: readonly Sent[] } {
  const { headers, mediaType, body } = input;
  const essence = mediaType?.essence ?? '';
  if (essence === STRUCTURED) return SentEvent.structured(input.text() ?? '');
  if (essence === BATCHED) return { batch: SentEvent.batched(input.text() ?? '') };
  if (CLOUD_EVENTS.test(essence)) throw HTTP_ERRORS.eventFormat(essence, STRUCTURED, BATCHED);
  const attributes = isSigned ? undefined : SentEvent.binaryAttributes(headers);
  if (attributes === undefined) return { payload: multipartPayload(mediaType, body) ?? input.payload() };
  return { attributes, payload: body.length === 0 ? undefined : input.bodyPayload() };
}

/** A request that may record events, as another thread can be given it. */
interface HttpMessage extends Pick<HttpInput, 'query' | 'headers' | 'body'> {
  readonly method: string;
  readonly keyScope: string | undefined;
  /** The name of the sender whose signature was verified. */
  readonly signedBy: string | undefined;
  /** The names of the handshakes that the service answers. */
  readonly handshakes: readonly string[];
}

/** The content of a call, and the answer to its sender's question if it is one. */
type HttpContent = CallContent & { readonly handshake?: ReturnType<typeof Sender.handshakes.of> };

/**
 * Reads a CloudEvent in structured or binary content mode, a batch (HTTP Protocol Binding 1.0.2), or any other payload. The `ce-` fields of
 * a signed call are ignored, since the signature covers the body alone.
 *
 * @throws {CloudEventError} a CloudEvent is not valid.
 * @throws {RequestError} 415: it is in a format other than JSON.
 */
export function readContent(
  message: HttpMessage,
  mediaType = MediaType.parse(message.headers['content-type']),
): HttpContent {
  const { method, query, headers, body, keyScope } = message;
  const sender = Sender.named(message.signedBy);
  const signedBy = sender && { sender, body };
  const sent = sentContent(new HttpInput(query, headers, mediaType, body), signedBy !== undefined);
  if ('batch' in sent) return { batch: sent.batch.map(eventContent) };
  const { payload } = sent;
  const asked = { method, headers, query, payload };
  const handshake =
    sent.attributes === undefined ? Sender.handshakes.of(message.handshakes, asked, sender?.shortName) : undefined;
  const value = payload !== undefined && 'json' in payload ? payload.value : undefined;
  return { ...eventContent(sent), handshake, sender: EventFactory.senderFacts({ headers, keyScope, signedBy }, value) };
}

function eventContent({ attributes, payload }: Sent): EventContent {
  return { attributes, payload: payload && eventPayload(payload) };
}
