import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { Sender } from '../senders/sender';
import { mayBeSecret, memoized } from '../util/text';
import { isMediaType, type SenderAttributes, traceAttributes, withoutReservedNames } from './cloudevents/attributes';
import { JsonText } from './cloudevents/json-text';
import { SentEvent } from './cloudevents/sent-event';
import { SENDER, type SoapPart } from './arrival';
import type { NewEvent } from './stored-event';
import { dataMember, type EventPayload } from './payload';

/** A call from which an event is made, and the request that brought it. */
export interface RecordedCall {
  readonly binding: string;
  readonly method: string;
  /** Path and query, as they were received. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The scope of the caller's keys, if the address names more than an operation. */
  readonly keyScope?: string | undefined;
  /** The sender whose signature was verified: it alone decides the event's type, source and key. */
  readonly signedBy?: { readonly sender: Sender; readonly body: Buffer } | undefined;
  /** The name of the record key with which it came, if that has one. */
  readonly keyName?: string | undefined;
  remoteAddress(): string | undefined;
}

/** The content of one event; with attributes if the caller sent a CloudEvent. */
export interface EventContent {
  readonly attributes?: SenderAttributes | undefined;
  readonly payload?: EventPayload | undefined;
  readonly soapPart?: SoapPart | undefined;
  /** The question of a sender that the request is; then it has no attributes. */
  readonly handshake?: { readonly type: string } | undefined;
  /** By default what the header fields say. */
  readonly sender?: ReturnType<typeof senderFacts>;
}

/**
 * Finds what the known sender of a call says of its event: its short name, the CloudEvents `type`, the key of the delivery.
 *
 * @param value - what the payload stands for, if that is JSON. A signature does not cover the content type, which is ignored then.
 */
export function senderFacts(
  { headers, keyScope, signedBy }: Pick<RecordedCall, 'headers' | 'keyScope' | 'signedBy'>,
  value?: unknown,
) {
  const sender = signedBy?.sender ?? Sender.of(headers);
  if (sender === undefined) return undefined;
  const body = value ?? (signedBy && new JsonText(signedBy.body.toString()).parsed()?.value);
  const members = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  return {
    name: sender.shortName,
    type: sender.typeOf(headers, members, signedBy?.body),
    key: sender.keyOf(headers, members, keyScope, signedBy?.body),
  };
}

const DEFAULT_TYPE = 'webhook.recorded';

/** Random numbers for ids. It asks the system for 1,024 at a time: the eight at a time of the library take 2 µs of each event. */
class RandomNumbers {
  readonly #numbers = new Uint32Array(1024);
  #next = this.#numbers.length;

  nextUint32(): number {
    if (this.#next === this.#numbers.length) {
      randomFillSync(this.#numbers);
      this.#next = 0;
    }
    return this.#numbers[this.#next++] ?? 0;
  }
}

/** Makes events from calls: CloudEvents 1.0 in the JSON format. */
export class EventFactory {
  readonly #ids = new V7Generator(new RandomNumbers());
  /** The time of the last event: calls that arrive together share it, and to write it takes 0.4 µs. */
  #time = { milliseconds: NaN, text: '' };
  readonly #mayBeSecret = memoized(mayBeSecret);
  /** Whether the media type of a payload becomes the `datacontenttype`; it is readable among the header fields in any case. */
  readonly #isContentType = memoized((text) => text.length <= 255 && isMediaType(text));

  /** @param defaults - attributes of an event whose sender named none; without a type it is the known sender's, or `webhook.recorded`. */
  constructor(private readonly defaults: { readonly source: string; readonly type?: string | undefined }) {}

  /** Reads a CloudEvent in the JSON format as if a sender sent it now. @throws {CloudEventError} it is not valid. */
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

  attributes() {
    const { source, type = DEFAULT_TYPE } = this.defaults;
    return {
      specversion: '1.0',
      id: this.#ids.generate().toString(),
      source,
      type,
      time: new Date().toISOString(),
    } as const;
  }

  /** Returns the event that a call records: without an `id` it gets a UUID version 7, without a trace that of the request. */
  make(call: RecordedCall, content: EventContent): NewEvent {
    const recordedAt = Date.now();
    const { binding, headers, signedBy, keyScope } = call;
    const { attributes: sent } = content;
    const sender = content.sender ?? senderFacts(call);
    const { source: ownSource, type: ownType } = this.defaults;
    const id = sent?.id ?? this.#ids.generate().toString();
    const source = sent?.source ?? ownSource;
    const type = sent?.type ?? content.handshake?.type ?? ownType ?? sender?.type ?? DEFAULT_TYPE;
    const time = sent?.time ?? this.#timeText(recordedAt);
    const mediaType = content.payload?.mediaType;
    const datacontenttype =
      mediaType !== undefined && this.#isContentType(mediaType) ? mediaType : sent?.datacontenttype;
    const isTraced = sent?.traceparent !== undefined || sent?.tracestate !== undefined;
    // A signature covers the body alone.
    const keys = signedBy === undefined ? headers : ({} as typeof headers);
    return {
      id,
      source,
      attributes: JSON.stringify({
        specversion: '1.0',
        id,
        source,
        type,
        time,
        binding,
        datacontenttype,
        ...(sent && withoutReservedNames({ ...sent, datacontenttype })),
        ...(isTraced ? undefined : traceAttributes(headers)),
      }),
      data: content.payload?.data,
      arrival: this.#arrival(call, content, sender?.name),
      recordedAt,
      idempotencyKey: this.#keyFrom(source, keyScope, keys['idempotency-key']),
      webhookId: sender?.key ?? this.#keyFrom(source, keyScope, keys['webhook-id'] ?? keys['svix-id'], 'webhook-id\n'),
    };
  }

  #timeText(milliseconds: number): string {
    if (milliseconds !== this.#time.milliseconds)
      this.#time = { milliseconds, text: new Date(milliseconds).toISOString() };
    return this.#time.text;
  }

  /** A key applies to its source and scope: any but the service's own source, and a scope, stand before it on lines of their own. */
  #keyFrom(source: string, scope: string | undefined, field: string | string[] | undefined, name = '') {
    if (field === undefined || field === '') return undefined;
    const key = Array.isArray(field) ? field.join(', ') : field;
    const about = `${source === this.defaults.source ? '' : `${source}\n`}${scope === undefined ? '' : `${scope}\n`}`;
    return about === '' ? key : `${name}${about}${key}`;
  }

  #arrival(call: RecordedCall, { payload, soapPart }: EventContent, sender: string | undefined): string {
    const { method, target, headers, signedBy } = call;
    const isShown = ([name]: readonly [string, unknown]) => !this.#mayBeSecret(name);
    const hasSecret = Object.keys(headers).some(this.#mayBeSecret);
    return JSON.stringify({
      method,
      path: target,
      remoteAddress: call.remoteAddress(),
      signedBy: signedBy?.sender.name,
      keyName: call.keyName,
      [SENDER]: sender,
      headers: hasSecret ? Object.fromEntries(Object.entries(headers).filter(isShown)) : headers,
      sentAs: method === 'GET' || method === 'HEAD' ? undefined : payload?.sentAs,
      soap: soapPart && { of: soapPart },
    });
  }
}
