import { uuidv7 } from 'uuidv7';
import { Sender, type SignedBy } from '../senders/sender';
import { mayBeSecret, memoized } from '../util/text';
import { withoutReservedNames, type SenderAttributes } from './cloudevents/attributes';
import { JsonText } from './cloudevents/json-text';
import { SentEvent } from './cloudevents/sent-event';
import { isMediaType, traceAttributes, type TraceAttributes } from './cloudevents/syntax';
import type { SoapPayload } from './arrival';
import type { NewEvent } from './stored-event';
import { dataMember, xmlSafe, type EventPayload } from './payload';

/** A call from which an event is made. */
export interface RecordedCall {
  /** The binding over which the call came. */
  readonly binding: string;
  /** The method of the request that brought the call. */
  readonly method: string;
  /** The target of that request as it was received: path and query. */
  readonly target: string;
  /** The header fields of that request, names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What the caller's keys apply to, if the address names more than an operation: the same key in another scope is another's. */
  readonly keyScope?: string | undefined;
  /** The sender whose signature was verified: it alone decides the event's type, source and key. */
  readonly signedBy?: SignedBy | undefined;
  /** The caller's network address. */
  remoteAddress(): string | undefined;
}

/** The content of one event. */
export interface EventContent {
  /** The context attributes, if the caller sent a CloudEvent. */
  readonly attributes?: SenderAttributes | undefined;
  readonly payload?: EventPayload | undefined;
  readonly soap?: SoapPayload | undefined;
  /** The question of a sender that the request is; then it has no attributes. */
  readonly handshake?: { readonly type: string } | undefined;
  /** By default what the header fields say. */
  readonly sender?: SenderFacts | undefined;
}

/** What a known sender says of its event. */
interface SenderFacts {
  /** The CloudEvents `type`. */
  readonly type: string | undefined;
  /** The key of the delivery. */
  readonly key: string | undefined;
}

/**
 * Finds what the sender of a call says of its event.
 *
 * @param value - what the payload stands for, if that is JSON. Of a signed body any content type is ignored, since it is not signed.
 */
export function senderFacts(
  { headers, keyScope, signedBy }: Pick<RecordedCall, 'headers' | 'keyScope' | 'signedBy'>,
  value?: unknown,
): SenderFacts | undefined {
  const sender = signedBy?.sender ?? Sender.of(headers);
  if (sender === undefined) return undefined;
  const body = value ?? (signedBy && new JsonText(signedBy.body.toString()).parsed()?.value);
  const members = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  return {
    type: sender.typeOf(headers, members),
    key: sender.keyOf(headers, members, keyScope, signedBy?.body),
  };
}

/** CloudEvents attributes of an event whose sender named none. */
interface EventDefaults {
  readonly source: string;
  /** Without it, the one that is known for the sender, or {@link DEFAULT_TYPE}. */
  readonly type?: string | undefined;
}

/** The type of an event whose sender is not known. */
const DEFAULT_TYPE = 'webhook.recorded';

/** Most characters of a content type that becomes `datacontenttype`. */
const MAX_MEDIA_TYPE_LENGTH = 255;

/** Makes events from calls: CloudEvents 1.0 in the JSON format. */
export class EventFactory {
  readonly #defaults: EventDefaults;
  /** The default `source` and a type as JSON members. */
  readonly #defaultMembers: (type: string) => string;
  readonly #mayBeSecret = memoized(mayBeSecret);
  /** The member `datacontenttype` with a comma before it, by the media type of a payload; empty without one. */
  readonly #contentTypeMember = memoized((mediaType) =>
    isContentType(mediaType) ? `,"datacontenttype":${JSON.stringify(mediaType)}` : '',
  );
  #lastTime = { milliseconds: NaN, text: '' };

  constructor(defaults: EventDefaults) {
    this.#defaults = defaults;
    const { source } = defaults;
    this.#defaultMembers = memoized((type) => xmlSafe(JSON.stringify({ source, type })).slice(1, -1));
  }

  /**
   * Reads a CloudEvent in the JSON format as if it came from a sender, recorded now.
   *
   * @throws {CloudEventError} it is not a valid CloudEvent.
   */
  static read(json: string): NewEvent {
    const { attributes, payload } = SentEvent.read(json);
    return {
      id: attributes.id,
      source: attributes.source,
      attributes: JSON.stringify(withoutReservedNames(attributes)),
      data: payload && dataMember(payload),
      arrival: '{}',
      recordedAt: Date.now(),
      idempotencyKey: undefined,
      webhookId: undefined,
    };
  }

  /** Returns the attributes of an event that has none of its own yet. */
  attributes() {
    const { source, type = DEFAULT_TYPE } = this.#defaults;
    return { specversion: '1.0', id: uuidv7(), source, type, time: new Date().toISOString() } as const;
  }

  /**
   * Returns the event that a call records. Fills in missing attributes: the `id` with a UUID version 7, the trace context from the
   * header fields of the request.
   */
  make(call: RecordedCall, content: EventContent): NewEvent {
    const recordedAt = Date.now();
    const { binding, headers, signedBy, keyScope } = call;
    const mediaType = content.payload?.mediaType;
    const sender = content.sender ?? senderFacts(call);
    const trace = headers.traceparent === undefined ? undefined : traceAttributes(headers);
    const { id, source, attributes } = content.attributes
      ? this.#withSenderAttributes(binding, mediaType, content.attributes, trace, recordedAt)
      : this.#withDefaults(
          binding,
          mediaType,
          content.handshake?.type ?? this.#defaults.type ?? sender?.type,
          trace,
          recordedAt,
        );
    const keys = signedBy === undefined ? headers : NO_HEADERS;
    return {
      id,
      source,
      attributes,
      data: content.payload?.data,
      arrival: this.#arrival(call, content),
      recordedAt,
      idempotencyKey: this.#keyFrom(source, keyScope, keys['idempotency-key']),
      webhookId: sender?.key ?? this.#keyFrom(source, keyScope, keys['webhook-id'] ?? keys['svix-id'], 'webhook-id\n'),
    };
  }

  /**
   * The key in a header field. It applies to its source and scope alone: any but the service's own source, and a scope, stand before it
   * after a name, each with a line feed.
   */
  #keyFrom(
    source: string,
    scope: string | undefined,
    field: string | string[] | undefined,
    name = '',
  ): string | undefined {
    if (field === undefined || field === '') return undefined;
    const key = Array.isArray(field) ? field.join(', ') : field;
    const about = `${source === this.#defaults.source ? '' : `${source}\n`}${scope === undefined ? '' : `${scope}\n`}`;
    return about === '' ? key : `${name}${about}${key}`;
  }

  /** Writes the attributes as text: `JSON.stringify` takes twice as long, and nearly every event is made here. */
  #withDefaults(
    binding: string,
    mediaType: string | undefined,
    type: string | undefined,
    trace: TraceAttributes | undefined,
    recordedAt: number,
  ): Pick<NewEvent, 'id' | 'source' | 'attributes'> {
    const id = uuidv7();
    const contentType = mediaType === undefined ? '' : this.#contentTypeMember(mediaType);
    const time = this.#timeText(recordedAt);
    const traceMembers = trace === undefined ? '' : `,${JSON.stringify(trace).slice(1, -1)}`;
    const attributes =
      `{"specversion":"1.0","id":"${id}",${this.#defaultMembers(type ?? DEFAULT_TYPE)},"time":"${time}",` +
      `"binding":"${binding}"${contentType}${traceMembers}}`;
    return { id, source: this.#defaults.source, attributes };
  }

  #withSenderAttributes(
    binding: string,
    mediaType: string | undefined,
    attributes: SenderAttributes,
    trace: TraceAttributes | undefined,
    recordedAt: number,
  ): Pick<NewEvent, 'id' | 'source' | 'attributes'> {
    const { id, source, type, time = this.#timeText(recordedAt), datacontenttype, ...others } = attributes;
    const isTraced = others.traceparent !== undefined || others.tracestate !== undefined;
    const missing = isTraced ? undefined : trace;
    const context = { id, source, type, time, binding, ...withoutReservedNames(others), ...missing };
    const contentType = mediaType !== undefined && isContentType(mediaType) ? mediaType : datacontenttype;
    return {
      id,
      source,
      attributes: JSON.stringify({ specversion: '1.0', ...context, datacontenttype: contentType }),
    };
  }

  /** RFC 3339 in UTC with milliseconds. The calls of one millisecond share the text. */
  #timeText(milliseconds: number): string {
    if (this.#lastTime.milliseconds !== milliseconds) {
      this.#lastTime = { milliseconds, text: new Date(milliseconds).toISOString() };
    }
    return this.#lastTime.text;
  }

  #arrival(call: RecordedCall, { payload, soap }: EventContent): string {
    const { method, target, headers, signedBy } = call;
    const sentAs = method === 'GET' || method === 'HEAD' ? undefined : payload?.sentAs;
    return JSON.stringify({
      method,
      path: target,
      remoteAddress: call.remoteAddress(),
      signedBy: signedBy?.sender.name,
      headers: this.#withoutSecrets(headers),
      sentAs,
      soap: soap && unusual(soap),
    });
  }

  #withoutSecrets(headers: RecordedCall['headers']): RecordedCall['headers'] {
    if (!Object.keys(headers).some(this.#mayBeSecret)) return headers;
    return Object.fromEntries(Object.entries(headers).filter(([name]) => !this.#mayBeSecret(name)));
  }
}

/** Returns only the members that differ from the defaults of `Arrival`: an arrival is stored with every event. */
function unusual({ of, added }: SoapPayload) {
  return { of: of === 'operation' ? undefined : of, added: added.length === 0 ? undefined : added };
}

/** Whether a content type becomes the `datacontenttype`; any other stays readable among the header fields of the arrival. */
function isContentType(mediaType: string): boolean {
  return mediaType.length <= MAX_MEDIA_TYPE_LENGTH && isMediaType(mediaType);
}

/** Beside a signature, which covers the body alone, header fields give no keys. */
const NO_HEADERS: RecordedCall['headers'] = {};
