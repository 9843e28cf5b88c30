import { V7Generator } from 'uuidv7';
import { mayBeSecret } from '../http/access';
import { keyOf, senderOf, typeOf, type Members } from '../senders/senders';
import { memoized } from '../util/text';
import { withoutReservedNames, type SenderAttributes } from './cloudevents/cloud-event';
import { isMediaType, traceAttributes } from './cloudevents/syntax';
import type { NewEvent } from './stored-event';
import { dataMember, xmlSafe, type Payload } from './payload';

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
  /** The name of the sender whose signature was verified. */
  readonly signedBy?: string | undefined;
  /** The sender's context attributes, where it sent a CloudEvent. */
  readonly attributes: SenderAttributes | undefined;
  readonly payload: Payload | undefined;
}

/** CloudEvents attributes of an event whose sender named none. */
export interface EventDefaults {
  readonly source: string;
  /** Without it, the one that is known for the sender, or {@link DEFAULT_TYPE}. */
  readonly type?: string | undefined;
}

/** The type of an event whose sender is not known. */
export const DEFAULT_TYPE = 'webhook.recorded';

/** Most characters of a content type that becomes `datacontenttype`. */
const MAX_MEDIA_TYPE_LENGTH = 255;

/** Makes events from calls: CloudEvents 1.0 in the JSON format. */
export class EventFactory {
  readonly #defaults: EventDefaults;
  readonly #uuids = new V7Generator();
  readonly #mayBeSecret = memoized(mayBeSecret);

  constructor(defaults: EventDefaults) {
    this.#defaults = defaults;
  }

  /**
   * Makes the event that a call records, at once unless its payload is large. What the sender left out is filled in: the `id`
   * with a UUID version 7, the trace context from the header fields of the request.
   */
  make(arrival: Arrival): NewEvent | Promise<NewEvent> {
    const recordedAt = Date.now();
    const data = arrival.payload && dataMember(arrival.payload);
    if (data instanceof Promise) return data.then((member) => this.#event(arrival, member, recordedAt));
    return this.#event(arrival, data, recordedAt);
  }

  #event(arrival: Arrival, data: string | undefined, recordedAt: number): NewEvent {
    const { headers } = arrival;
    const sender = senderOf(headers);
    const body = sender === undefined ? NO_MEMBERS : membersOf(arrival.payload);
    const attributes = this.#attributes(arrival, recordedAt, sender && typeOf(sender, headers, body));
    return {
      id: attributes.id,
      source: attributes.source,
      attributes: xmlSafe(JSON.stringify(attributes)),
      data,
      arrival: this.#describe(arrival),
      recordedAt,
      idempotencyKey: deliveryKey(headers['idempotency-key']),
      webhookId: deliveryKey(headers['webhook-id']) ?? (sender && keyOf(sender, headers, body)),
    };
  }

  /** @param typeOfSender - the type that is known for the sender. */
  #attributes(
    { binding, headers, payload, attributes }: Arrival,
    recordedAt: number,
    typeOfSender: string | undefined,
  ) {
    const recorded = new Date(recordedAt).toISOString();
    const contentType = contentTypeOf(payload);
    const trace = headers.traceparent === undefined ? undefined : traceAttributes(headers);
    if (attributes === undefined) {
      const id = this.#uuids.generate().toString();
      const { source, type = typeOfSender ?? DEFAULT_TYPE } = this.#defaults;
      return { specversion: '1.0', id, source, type, time: recorded, binding, datacontenttype: contentType, ...trace };
    }
    const { id, source, type, time = recorded, datacontenttype, ...others } = attributes;
    const isTraced = others.traceparent !== undefined || others.tracestate !== undefined;
    return {
      specversion: '1.0',
      id,
      source,
      type,
      time,
      binding,
      ...withoutReservedNames(others),
      ...(isTraced ? undefined : trace),
      datacontenttype: contentType ?? datacontenttype,
    };
  }

  #describe({ method, target, headers, remoteAddress, signedBy }: Arrival): string {
    return JSON.stringify({ method, path: target, remoteAddress, signedBy, headers: this.#withoutSecrets(headers) });
  }

  #withoutSecrets(headers: Arrival['headers']): Arrival['headers'] {
    if (!Object.keys(headers).some(this.#mayBeSecret)) return headers;
    return Object.fromEntries(Object.entries(headers).filter(([name]) => !this.#mayBeSecret(name)));
  }
}

/** The media type of a payload as `datacontenttype`. One that is not valid stays readable among the header fields. */
function contentTypeOf(payload: Payload | undefined): string | undefined {
  const mediaType = payload?.mediaType;
  if (mediaType === undefined || mediaType.length > MAX_MEDIA_TYPE_LENGTH) return undefined;
  return isMediaType(mediaType) ? mediaType : undefined;
}

const NO_MEMBERS: Members = {};

/** The members of a payload that is a JSON object. */
function membersOf(payload: Payload | undefined): Members {
  const value = payload !== undefined && 'json' in payload ? payload.value : undefined;
  return typeof value === 'object' && value !== null ? (value as Members) : NO_MEMBERS;
}

function deliveryKey(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text === '' ? undefined : text;
}
