import { createHash } from 'node:crypto';
import { VERSION } from '../../config/package-info';
import { eventJson, type StoredEvent } from '../../events/stored-event';
import { Sender } from '../../senders/sender';
import { receivedMessage, type PostedMessage, type ReceivedForm } from './received-message';

/** How events are posted. */
export interface PostedForm {
  /** Secrets that sign each attempt (Standard Webhooks); undefined: it is not signed. */
  readonly secrets: readonly string[] | undefined;
  /** The request as it arrived, without the signature of {@link secrets}. */
  readonly asReceived?: ReceivedForm | undefined;
}

/**
 * Returns the request that posts an event to an address: the CloudEvent in structured content mode (CloudEvents HTTP binding 1.0.2,
 * section 3.2), or the request that brought it. The `webhook-id` of the first is the same whenever this event is sent, so that the
 * target can tell a repetition.
 */
export function messageOf(event: StoredEvent, address: URL, { secrets, asReceived }: PostedForm): PostedMessage {
  const id = webhookId(event);
  if (asReceived !== undefined) return receivedMessage(event, address, asReceived, id);
  const body = Buffer.from(eventJson(event));
  return {
    method: 'POST',
    path: undefined,
    body,
    headers: () => ({
      'User-Agent': `asmx-webhook/${VERSION}`,
      'Content-Type': 'application/cloudevents+json',
      'webhook-id': id,
      ...(secrets && Sender.standardHeaders(secrets, id, body)),
    }),
  };
}

/** Made of `source` and `id`, which name an event together and may hold what a header field may not. */
function webhookId({ source, id }: StoredEvent): string {
  return `evt_${createHash('sha256')
    .update(JSON.stringify([source, id]))
    .digest('base64url')}`;
}
