import { V7Generator } from 'uuidv7';
import type { Handshake } from '../senders/handshakes';
import { Sender, type SignedBy } from '../senders/sender';
import { atOnce, inParts, type Steps } from '../util/promises';
import { mayBeSecret, memoized } from '../util/text';
import { withoutReservedNames, type SenderAttributes } from './cloudevents/attributes';
import { JsonText } from './cloudevents/json-text';
import { SentEvent } from './cloudevents/sent-event';
import { isMediaType, traceAttributes, type TraceAttributes } from './cloudevents/syntax';
import type { SoapPayload } from './arrival';
import type { NewEvent } from './stored-event';
import { dataMember, xmlSafe, type Payload } from './payload';

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
  readonly payload?: Payload | undefined;
  readonly soap?: SoapPayload | undefined;
  /** The question of a sender that the request is; then it has no attributes. */
  readonly handshake?: Handshake | undefined;
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
  readonly #uuids = new UuidGenerator();
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
  static async read(json: string): Promise<NewEvent> {
    const { attributes, payload } = atOnce(SentEvent.read(json));
    return {
      id: attributes.id,
      source: attributes.source,
      attributes: JSON.stringify(withoutReservedNames(attributes)),
      data: payload && (await dataMember(payload)),
      arrival: '{}',
      recordedAt: Date.now(),
      idempotencyKey: undefined,
      webhookId: undefined,
    };
  }

  /** Returns the attributes of an event that has none of its own yet. */
  attributes() {
    const { source, type = DEFAULT_TYPE } = this.#defaults;
    return { specversion: '1.0', id: this.#uuids.next(), source, type, time: new Date().toISOString() } as const;
  }

  /**
   * Returns the event that a call records, synchronously unless its payload is large. Fills in missing attributes: the `id` with
   * a UUID version 7, the trace context from the header fields of the request.
   */
  make(call: RecordedCall, content: EventContent): NewEvent | Promise<NewEvent> {
    const recordedAt = Date.now();
    const { payload } = content;
    const data = payload && dataMember(payload);
    const body = membersOf(payload, call.signedBy?.body);
    if (data instanceof Promise || body instanceof Promise)
      return Promise.all([data, body]).then((made) => this.#event(call, content, ...made, recordedAt));
    return this.#event(call, content, data, body, recordedAt);
  }

  #event(
    call: RecordedCall,
    content: EventContent,
    data: string | undefined,
    body: BodyMembers,
    recordedAt: number,
  ): NewEvent {
    const { binding, headers, signedBy, keyScope } = call;
    const mediaType = content.payload?.mediaType;
    const sender = signedBy?.sender ?? Sender.of(headers);
    const key = sender?.keyOf(headers, body, keyScope, signedBy?.body);
    const trace = headers.traceparent === undefined ? undefined : traceAttributes(headers);
    const { id, source, attributes } = content.attributes
      ? this.#withSenderAttributes(binding, mediaType, content.attributes, trace, recordedAt)
      : this.#withDefaults(
          binding,
          mediaType,
          content.handshake?.type ?? this.#defaults.type ?? sender?.typeOf(headers, body),
          trace,
          recordedAt,
        );
    const keys = signedBy === undefined ? headers : NO_HEADERS;
    return {
      id,
      source,
      attributes,
      data,
      arrival: this.#arrival(call, content.soap),
      recordedAt,
      idempotencyKey: this.#keyFrom(source, keyScope, keys['idempotency-key']),
      webhookId: key ?? this.#keyFrom(source, keyScope, keys['webhook-id'] ?? keys['svix-id'], 'webhook-id\n'),
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
    const id = this.#uuids.next();
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

  #arrival(call: RecordedCall, soap: SoapPayload | undefined): string {
    const { method, target, headers, signedBy } = call;
    return JSON.stringify({
      method,
      path: target,
      remoteAddress: call.remoteAddress(),
      signedBy: signedBy?.sender.name,
      headers: this.#withoutSecrets(headers),
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

/** The members of a JSON object. */
type BodyMembers = Readonly<Record<string, unknown>>;

const NO_MEMBERS: BodyMembers = {};

/** Beside a signature, which covers the body alone, header fields give no keys. */
const NO_HEADERS: RecordedCall['headers'] = {};

/** The members of a payload that is a JSON object; of a signed body under any content type, which is not signed. */
function membersOf(payload: Payload | undefined, signed: Buffer | undefined): BodyMembers | Promise<BodyMembers> {
  const value = payload !== undefined && 'json' in payload ? payload.value : undefined;
  if (value === undefined && signed !== undefined) return inParts(signed.length, membersIn(signed));
  return asMembers(value);
}

function* membersIn(body: Buffer): Steps<BodyMembers> {
  const text = new JsonText(body.toString());
  yield;
  return asMembers((yield* text.parsed())?.value);
}

function asMembers(value: unknown): BodyMembers {
  return typeof value === 'object' && value !== null ? (value as BodyMembers) : NO_MEMBERS;
}

/** How many random 32-bit numbers are asked for at once: each request to the system costs more than making a UUID. */
const RANDOM_NUMBERS = 1024;

const DIGITS = Buffer.from('0123456789abcdef');

/** The position of each byte of a UUID in its text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** Makes UUIDs version 7 (RFC 9562, section 5.7). */
export class UuidGenerator {
  readonly #random = new Uint32Array(RANDOM_NUMBERS);
  #used = RANDOM_NUMBERS;
  readonly #text = Buffer.from('00000000-0000-7000-8000-000000000000');
  readonly #generator = new V7Generator({ nextUint32: () => this.#nextRandom() });

  /**
   * Returns a UUID that sorts after all earlier ones of this generator, unless the clock was set back by more than ten seconds.
   */
  next(): string {
    const { bytes } = this.#generator.generate();
    // The library's own text is a chain of 36 texts, which takes three times as long to make and more to write.
    for (let i = 0; i < PLACES.length; i++) {
      const byte = bytes[i] ?? 0;
      const place = PLACES[i] ?? 0;
      this.#text[place] = DIGITS[byte >> 4] ?? 0;
      this.#text[place + 1] = DIGITS[byte & 15] ?? 0;
    }
    return this.#text.toString('latin1');
  }

  #nextRandom(): number {
    if (this.#used === RANDOM_NUMBERS) {
      crypto.getRandomValues(this.#random);
      this.#used = 0;
    }
    return this.#random[this.#used++] ?? 0;
  }
}
