import { remembered } from '../remembered';
import type { SenderAttributes } from './cloud-event';
import { dataMember, type Payload } from './data-member';
import type { NewEvent } from './event-log';
import { uuid } from './uuid';

/** A call from which an event is made. */
export interface Arrival {
  /** The binding over which the call came. */
  readonly binding: string;
  /** HTTP method. */
  readonly method: string;
  /** Request target as it was received: path and query. */
  readonly target: string;
  /** HTTP header fields, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The caller's network address. */
  readonly remoteAddress: string | undefined;
  /** What the sender says of its event, where it sent a CloudEvent. */
  readonly attributes: SenderAttributes | undefined;
  readonly payload: Payload | undefined;
}

/** CloudEvents attributes of an event whose sender named none. */
export interface EventDefaults {
  readonly source: string;
  readonly type: string;
}

/** Header fields that may hold a secret are not kept with the event. */
const SECRET_HEADER = /auth|cookie|token|secret|password|signature|api-?key|subscription-key/;

/** The same few names come with nearly every request. */
const isSecret = remembered((name) => SECRET_HEADER.test(name));

/** A media type longer than this is no media type; it stays readable among the header fields of the arrival. */
const MAX_MEDIA_TYPE_LENGTH = 255;

/** Attributes that are the log's own; what a sender says in them is kept under the other name. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['sequence', 'sendersequence'],
  ['binding', 'senderbinding'],
]);

/**
 * Makes the event that a call records: CloudEvents 1.0 in its JSON format. What the sender did not say is filled in, with a
 * UUID version 7 as `id`.
 */
export async function eventOf(arrival: Arrival, defaults: EventDefaults): Promise<NewEvent> {
  const { payload, headers, binding } = arrival;
  const recordedAt = Date.now();
  const said = arrival.attributes && renamed(arrival.attributes);
  const { id = uuid(), source = defaults.source, type = defaults.type, time } = said ?? {};
  return {
    id,
    source,
    attributes: JSON.stringify({
      specversion: '1.0',
      id,
      source,
      type,
      time: time ?? new Date(recordedAt).toISOString(),
      binding,
      ...said,
      datacontenttype: mediaTypeOf(payload) ?? said?.datacontenttype,
    }),
    data: payload && (await dataMember(payload)),
    arrival: describe(arrival),
    recordedAt,
    idempotencyKey: deliveryKey(headers['idempotency-key']),
    webhookId: deliveryKey(headers['webhook-id']),
  };
}

function renamed(attributes: SenderAttributes): Partial<SenderAttributes> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [RESERVED.get(name) ?? name, value]));
}

function mediaTypeOf(payload: Payload | undefined): string | undefined {
  const mediaType = payload?.mediaType;
  return mediaType !== undefined && mediaType.length <= MAX_MEDIA_TYPE_LENGTH ? mediaType : undefined;
}

function describe({ method, target, headers, remoteAddress }: Arrival): string {
  return JSON.stringify({ method, path: target, remoteAddress, headers: withoutSecrets(headers) });
}

function withoutSecrets(headers: Arrival['headers']): Arrival['headers'] {
  if (!Object.keys(headers).some(isSecret)) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecret(name)));
}

function deliveryKey(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text === '' ? undefined : text;
}
