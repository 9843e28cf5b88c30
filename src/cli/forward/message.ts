import { createHash } from 'node:crypto';
import { VERSION } from '../../config/package-info';
import { eventJson } from '../../events/event-json';
import type { StoredEvent } from '../../log/event-log';
import { standardHeaders } from '../../http/auth/standard-webhooks';
import type { Message } from './delivery';
import { rawContent, type Content } from './raw';

/** How events are posted. */
export interface MessageOptions {
  /** What each attempt is signed with, as Standard Webhooks says; undefined: with nothing. */
  readonly secrets: readonly string[] | undefined;
  /** The payload as it came, instead of the CloudEvent. */
  readonly raw: boolean;
}

/**
 * Makes what is posted of an event: the CloudEvent in structured content mode (CloudEvents HTTP binding 1.0.2, section 3.2), or its
 * payload. Its `webhook-id` is the same whenever this event is sent, so that the target can tell a repetition.
 */
export function messageOf(event: StoredEvent, { secrets, raw }: MessageOptions): Message {
  const { body, contentType } = raw ? rawContent(event) : structured(event);
  const id = webhookId(event);
  const type = contentType === undefined ? {} : { 'Content-Type': contentType };
  return {
    body,
    headers: () => ({
      'User-Agent': `asmx-webhook/${VERSION}`,
      ...type,
      'webhook-id': id,
      ...(secrets && standardHeaders(secrets, id, body)),
    }),
  };
}

function structured({ attributes, sequence, data }: StoredEvent): Content {
  return {
    body: Buffer.from(eventJson(attributes, sequence, data)),
    contentType: 'application/cloudevents+json',
  };
}

/** Made of `source` and `id`, which name an event together and may hold what a header field may not. */
function webhookId({ source, id }: StoredEvent): string {
  return `evt_${createHash('sha256')
    .update(JSON.stringify([source, id]))
    .digest('base64url')}`;
}
