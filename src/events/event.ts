import { hash, randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';
import { Sender } from '../senders/sender';
import { mayBeSecret, Secrets } from '../util/secrets';
import { memoized } from '../util/text';
import { isMediaType, type SenderAttributes, traceAttributes, withoutReservedNames } from './cloudevents/attributes';
import { JsonText } from './cloudevents/json-text';
import { SentEvent } from './cloudevents/sent-event';
import { callerIn, SENDER, type SoapPart } from './arrival';
import { APART, type KeyConflict, type NewEvent } from './stored-event';
import { dataMember, type EventPayload } from './payload';

/** What proved who makes a call. */
export interface ProvedCaller {
  /** The name of the record key with which it came, if that has one. */
  readonly keyName?: string | undefined;
  /** The sender whose signature was verified, and the secret that signed, by its name in the log. */
  readonly signedBy?: { readonly sender: Sender; readonly secret: string; readonly body: Buffer } | undefined;
}

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
  readonly caller?: ProvedCaller | undefined;
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

/** The parts of a call by which its sender is found. */
export interface SenderCall extends Pick<RecordedCall, 'headers' | 'keyScope'> {
  readonly signedBy?: Pick<NonNullable<ProvedCaller['signedBy']>, 'sender' | 'body'> | undefined;
}

/**
 * Finds what the known sender of a call says of its event: its short name, the CloudEvents `type`, the key of the delivery. What was
 * signed decides; where it names neither, the sender's own header fields do.
 *
 * @param value - what the payload stands for, if that is JSON. A signature does not cover the content type, which is ignored then.
 */
export function senderFacts({ headers, keyScope, signedBy }: SenderCall, value?: unknown) {
  const { sender: signer, body: signed } = signedBy ?? {};
  const body = value ?? (signed && new JsonText(signed.toString()).parsed()?.value);
  const members = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const ownType = signer?.typeOf(headers, members, signed);
  const sender = signer === undefined || (signer.isScheme && ownType === undefined) ? Sender.of(headers) : signer;
  const known = sender ?? signer;
  return (
    known && {
      name: known.shortName,
      type: ownType ?? known.typeOf(headers, members, signed),
      key: signer?.keyOf(headers, members, keyScope, signed) ?? known.keyOf(headers, members, keyScope, signed),
    }
  );
}

/** Characters of a digest: 128 bits. */
const DIGEST_LENGTH = 22;

const NOBODY: ProvedCaller = {};

const NO_FIELDS: RecordedCall['headers'] = {};

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

  /**
   * @param defaults - attributes of an event whose sender named none; without a type it is the known sender's, or `webhook.recorded`.
   * @param secrets - are not kept with events, but for their data.
   * @param keyFields - header fields, in lower case, that hold the key of a delivery.
   */
  constructor(
    private readonly defaults: { readonly source: string; readonly type?: string | undefined },
    private readonly secrets = new Secrets(),
    private readonly keyFields: readonly string[] = [],
  ) {}

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
    const { binding, headers, keyScope, caller: { signedBy } = NOBODY } = call;
    const { attributes: sent } = content;
    const sender = content.sender ?? senderFacts({ headers, keyScope, signedBy });
    const { source: ownSource, type: ownType } = this.defaults;
    const { cut, cutJson } = this.secrets;
    const cutKey = (key: string | undefined) => key && cut(key);
    const id = cut(sent?.id ?? this.#ids.generate().toString());
    const source = cut(sent?.source ?? ownSource);
    const type = sent?.type ?? content.handshake?.type ?? ownType ?? sender?.type ?? DEFAULT_TYPE;
    const time = sent?.time ?? this.#timeText(recordedAt);
    const mediaType = content.payload?.mediaType;
    const datacontenttype =
      mediaType !== undefined && this.#isContentType(mediaType) ? mediaType : sent?.datacontenttype;
    const isTraced = sent?.traceparent !== undefined || sent?.tracestate !== undefined;
    // A signature covers the body alone.
    const keys = signedBy === undefined ? headers : NO_FIELDS;
    return {
      id,
      source,
      attributes: cutJson(
        JSON.stringify({
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
      ),
      data: content.payload?.data,
      arrival: this.#arrival(call, content, sender?.name),
      recordedAt,
      idempotencyKey: cutKey(this.#keyFrom(source, keyScope, keys['idempotency-key'])),
      webhookId: cutKey(
        sender?.key ??
          this.#keyFrom(source, keyScope, keys['webhook-id'] ?? keys['svix-id'], 'webhook-id\n') ??
          this.#fieldKey(call, source),
      ),
    };
  }

  /**
   * Returns an event that the log did not record, since another has its key, under one that nobody else's event has and, for the id of a
   * delivery, no other data. Undefined if it must not be recorded: its `Idempotency-Key` came with another type or other data.
   */
  static apart(event: NewEvent, { key, differs }: KeyConflict): NewEvent | undefined {
    const caller = callerIn(event.arrival);
    if (key === 'webhookId') {
      const { type } = JSON.parse(event.attributes) as { readonly type?: unknown };
      const what = JSON.stringify([caller, ...(caller.signedBody === undefined ? [type, event.data] : [])]);
      const digest = hash('sha256', what, 'base64url').slice(0, DIGEST_LENGTH);
      return { ...event, webhookId: `${event.webhookId ?? ''}${APART}${digest}` };
    }
    if (differs === 'data') return undefined;
    return { ...event, idempotencyKey: `${event.idempotencyKey ?? ''}${APART}${caller.keyName ?? ''}` };
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

  #fieldKey({ headers, keyScope, caller }: RecordedCall, source: string): string | undefined {
    const name = this.keyFields.find((field) => headers[field] !== undefined && headers[field] !== '');
    if (name === undefined) return undefined;
    const about = [caller?.signedBy && 'signed', name].filter(Boolean).join(' ');
    const key = this.#keyFrom(source, keyScope, headers[name]) ?? '';
    return `${about}\n${key}`;
  }

  #arrival(call: RecordedCall, { payload, soapPart }: EventContent, sender: string | undefined): string {
    const { method, target, headers, caller: { signedBy, keyName } = NOBODY } = call;
    const isShown = ([name]: readonly [string, unknown]) => !this.#mayBeSecret(name);
    const hasSecret = Object.keys(headers).some(this.#mayBeSecret);
    const arrival = JSON.stringify({
      method,
      path: target,
      remoteAddress: call.remoteAddress(),
      signedBy: signedBy?.sender.name,
      signedWith: signedBy?.secret,
      signedBody: signedBy && hash('sha256', signedBy.body, 'base64url').slice(0, DIGEST_LENGTH),
      keyName,
      [SENDER]: sender,
      headers: hasSecret ? Object.fromEntries(Object.entries(headers).filter(isShown)) : headers,
      sentAs: method === 'GET' || method === 'HEAD' ? undefined : payload?.sentAs,
      soap: soapPart && { of: soapPart },
    });
    return this.secrets.cutJson(arrival);
  }
}
