import { randomUUID } from 'node:crypto';
import { Sender } from '../senders/sender';
import { Secrets } from '../util/secrets';
import { memoized } from '../util/text';
import { isMediaType, type SenderAttributes, traceAttributes, withoutReservedNames } from './cloudevents/attributes';
import { JsonText } from './cloudevents/json-text';
import { SentEvent } from './cloudevents/sent-event';
import type { SoapPart } from './arrival';
import { KeyConflict, shortDigestOf } from './key-conflict';
import type { NewEvent } from './stored-event';
import { dataMember, type EventPayload } from './payload';

/** The proofs of who makes a call. */
interface ProvedCaller {
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
  /** The scope of the keys by which a repetition is known, if the address names more than an operation. */
  readonly keyScope?: string | undefined;
  readonly caller?: ProvedCaller | undefined;
  remoteAddress(): string | undefined;
}

/** The content of one event; with attributes if the caller sent a CloudEvent. */
export interface EventContent {
  readonly attributes?: SenderAttributes | undefined;
  readonly payload?: EventPayload | undefined;
  readonly soapPart?: SoapPart | undefined;
  /** Set if the request is a sender's handshake; then there are no attributes. */
  readonly handshake?: { readonly type: string } | undefined;
  /** What the payload says about its sender, if that was looked for; without it `make` asks the header fields. */
  readonly sender?: ReturnType<typeof EventFactory.senderFacts> | undefined;
}

type SenderCall = Pick<RecordedCall, 'headers' | 'keyScope'> & {
  readonly signedBy?: Partial<NonNullable<ProvedCaller['signedBy']>> | undefined;
};

/** The attributes that the service itself gives an event, besides `specversion`. */
type OwnAttributes = Readonly<Record<'id' | 'source' | 'type' | 'time' | 'binding', string>> & {
  readonly datacontenttype: string | undefined;
};

const DEFAULT_TYPE = 'webhook.recorded';

/** Makes events from calls: CloudEvents 1.0 in the JSON format. */
export class EventFactory {
  /** The time of the last event, as a text and as the start of ids: calls that arrive together share it, and writing it takes 0.4 µs. */
  #time = { milliseconds: NaN, text: '', idPrefix: '' };
  readonly #mayBeSecret = memoized(Secrets.mayBeIn);
  readonly #quoted = memoized((text) => JSON.stringify(text));
  /** Whether the media type of a payload becomes the `datacontenttype`; it is readable among the header fields in any case. */
  readonly #isContentType = memoized((text) => text.length <= 255 && isMediaType(text));

  /**
   * @param defaults - attributes of an event whose sender named none; without a type it is the known sender's, or `webhook.recorded`.
   * @param secrets - are cut out of all that is kept of an event, except its data.
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

  /**
   * Returns the facts of a known sender about its event: its short name, the CloudEvents `type`, the key of the delivery. What was
   * signed decides; if it names neither, the sender's own header fields do.
   *
   * @param value - what the payload stands for, if that is JSON. A signature does not cover the content type, which is ignored then.
   */
  static senderFacts(
    { headers, keyScope, signedBy: { sender: signer, body: signed } = {} }: SenderCall,
    value: unknown = signed && new JsonText(signed.toString()).parsed()?.value,
  ) {
    const members = Object(value) as Readonly<Record<string, unknown>>;
    const ownType = signer?.typeOf(headers, members, signed);
    const isOwn = signer !== undefined && (!signer.isScheme || ownType !== undefined);
    const sender = isOwn ? signer : (Sender.of(headers) ?? signer);
    return (
      sender && {
        name: sender.shortName,
        type: ownType ?? sender.typeOf(headers, members, signed),
        key: signer?.keyOf(headers, members, keyScope, signed) ?? sender.keyOf(headers, members, keyScope, signed),
      }
    );
  }

  /**
   * Returns the event with a key of its own, to be recorded next. `known`: it repeats the other, by an id in the data itself.
   * `reused`: its `Idempotency-Key` came with another type or other data.
   */
  static withOwnKey(event: NewEvent, { key, differs }: KeyConflict): NewEvent | 'known' | 'reused' {
    const isInData = key === 'webhookId' && Sender.isKeyInData(event.webhookId ?? '');
    // The same event, sent again by its caller with another part of the data changed.
    if (isInData && differs === 'data') return 'known';
    if (key === 'idempotencyKey' && differs === 'data') return 'reused';
    return { ...event, [key]: KeyConflict.ownKey(event, key, isInData) };
  }

  attributes() {
    const { source, type = DEFAULT_TYPE } = this.defaults;
    const { text: time, idPrefix } = this.#timeAt(Date.now());
    return { specversion: '1.0', id: newId(idPrefix), source, type, time } as const;
  }

  /** Returns the event that a call records: without an `id` it gets a UUID version 7, without a trace that of the request. */
  make(call: RecordedCall, content: EventContent): NewEvent {
    const now = this.#timeAt(Date.now());
    const { binding, headers, keyScope, caller: { signedBy } = {} } = call;
    const { attributes: sent } = content;
    const sender = content.sender ?? EventFactory.senderFacts({ headers, keyScope, signedBy });
    const { source: ownSource, type: ownType } = this.defaults;
    const { cut, cutJson } = this.secrets;
    const id = sent?.id === undefined ? newId(now.idPrefix) : cut(sent.id);
    const source = sent?.source === undefined ? ownSource : cut(sent.source);
    const type = sent?.type ?? content.handshake?.type ?? ownType ?? sender?.type ?? DEFAULT_TYPE;
    const mediaType = content.payload?.mediaType;
    const contentType = mediaType !== undefined && this.#isContentType(mediaType) ? mediaType : undefined;
    const isTraced = sent?.traceparent !== undefined || sent?.tracestate !== undefined;
    const traced = isTraced ? undefined : traceAttributes(headers);
    const { idempotencyKey, webhookId } = this.#keysOf(call, source, sender?.key);
    const own = { specversion: '1.0', id, source, type, time: now.text, binding, datacontenttype: contentType };
    const named = sent && withoutReservedNames({ ...sent, datacontenttype: contentType ?? sent.datacontenttype });
    return {
      id,
      source,
      // Cuts the id and the source too: `named` has them as they were sent.
      attributes: cutJson(named || traced ? JSON.stringify({ ...own, ...named, ...traced }) : this.#jsonOf(own)),
      data: content.payload?.data,
      arrival: this.#arrival(call, content, sender?.name),
      recordedAt: now.milliseconds,
      idempotencyKey: idempotencyKey && cut(idempotencyKey),
      webhookId: webhookId && cut(webhookId),
    };
  }

  /** Finds the keys by which repetitions of an event are known. Each applies to its source and scope. */
  #keysOf({ headers, keyScope, caller }: RecordedCall, source: string, senderKey: string | undefined) {
    const isSigned = caller?.signedBy !== undefined;
    // A signature covers the body alone: beside it no header field is a key, but for those that the operator has named.
    const keyHeaders: RecordedCall['headers'] = isSigned ? {} : headers;
    const isOwnSource = source === this.defaults.source;
    const prefix = (isOwnSource ? '' : `${source}\n`) + (keyScope === undefined ? '' : `${keyScope}\n`);
    const field = this.keyFields.find((name) => keyIn(headers[name]) !== undefined);
    return {
      idempotencyKey: keyIn(keyHeaders['idempotency-key'], prefix),
      // The first of: the known sender's key, the field of Standard Webhooks, a field that the operator has named.
      webhookId:
        senderKey ??
        keyIn(keyHeaders['webhook-id'] ?? keyHeaders['svix-id'], prefix === '' ? '' : `webhook-id\n${prefix}`) ??
        (field && keyIn(headers[field], `${isSigned ? 'signed ' : ''}${field}\n${prefix}`)),
    };
  }

  /** Writes the attributes of most events as `JSON.stringify` does, which takes 1 µs more: their values come again and again. */
  #jsonOf({ id, source, type, time, binding, datacontenttype }: OwnAttributes): string {
    const origin = `"source":${this.#quoted(source)},"type":${this.#quoted(type)},"time":"${time}"`;
    const format = datacontenttype === undefined ? '' : `,"datacontenttype":${this.#quoted(datacontenttype)}`;
    return `{"specversion":"1.0","id":"${id}",${origin},"binding":"${binding}"${format}}`;
  }

  #timeAt(milliseconds: number) {
    if (milliseconds !== this.#time.milliseconds) {
      const hex = milliseconds.toString(16).padStart(12, '0');
      const idPrefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
      this.#time = { milliseconds, text: new Date(milliseconds).toISOString(), idPrefix };
    }
    return this.#time;
  }

  #arrival(call: RecordedCall, { payload, soapPart }: EventContent, sender: string | undefined): string {
    const { method, target, headers, caller: { signedBy, keyName } = {} } = call;
    let hasSecret = false;
    for (const name in headers) hasSecret ||= this.#mayBeSecret(name);
    const isShown = ([name]: readonly [string, unknown]) => !this.#mayBeSecret(name);
    const arrival = JSON.stringify({
      method,
      // Stored events call it so; it has the query, too.
      path: target,
      remoteAddress: call.remoteAddress(),
      signedBy: signedBy?.sender.name,
      signedWith: signedBy?.secret,
      signedBody: signedBy && shortDigestOf(signedBy.body),
      keyName,
      'webhook-sender': sender,
      headers: hasSecret ? Object.fromEntries(Object.entries(headers).filter(isShown)) : headers,
      sentAs: method === 'GET' || method === 'HEAD' ? undefined : payload?.sentAs,
      soap: soapPart && { of: soapPart },
    });
    return this.secrets.cutJson(arrival);
  }
}

/** A UUID version 7 (RFC 9562, section 5.7): the time, then what version 4 has after its version. */
function newId(prefix: string): string {
  return prefix + randomUUID().slice(15);
}

/** The key in a header field, after lines that say what it applies to. */
function keyIn(field: string | string[] | undefined, prefix = ''): string | undefined {
  if (field === undefined || field === '') return undefined;
  return prefix + (Array.isArray(field) ? field.join(', ') : field);
}
