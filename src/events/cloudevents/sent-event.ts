import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { unescapeBuffer } from 'node:querystring';
import type { Payload } from '../payload';
import { attributeProblem, CloudEventError, senderAttributes, tooLarge, type SenderAttributes } from './attributes';
import { JsonText } from './json-text';

declare module 'node:querystring' {
  /** Decodes percent-encoding (RFC 3986, section 2.1); a percent sign that does not start an escape is kept. */
  function unescapeBuffer(text: string): Buffer;
}

/** Most events in a batch: as many as GetEvents can be set to return, so that what it gives can be sent back. */
const MAX_BATCH_EVENTS = 10_000;

const PREFIX = 'ce-';

/** One of the attributes that every CloudEvent has announces an event in binary content mode. */
const ANNOUNCING = ['ce-specversion', 'ce-id', 'ce-source', 'ce-type'];

const DATA_NAMES: readonly string[] = ['data', 'data_base64'];

/** A CloudEvent as a sender wrote it, read from one of the content modes of HTTP (HTTP Protocol Binding 1.0.2, section 3). */
export interface SentEvent {
  readonly attributes: SenderAttributes;
  readonly payload: Payload | undefined;
}

export const SentEvent = {
  /** Reads an event in structured content mode. @throws {CloudEventError} it has more than 100,000 parts, or is not valid. */
  structured(json: string): SentEvent {
    if (new JsonText(json).hasTooManyParts())
      throw new CloudEventError('The CloudEvent has more than 100,000 objects, arrays and members.');
    return SentEvent.read(json);
  },

  /**
   * Reads events in batched content mode (CloudEvents 1.0 JSON format, section 4): an array, which may be empty.
   *
   * @throws {CloudEventError} it has more than 10,000 events or 300,000 parts, or one of them, which the message names, is not valid.
   */
  batched(json: string): SentEvent[] {
    const batch = new JsonText(json);
    if (batch.hasTooManyParts(300_000))
      throw new CloudEventError('The batch of CloudEvents has more than 300,000 objects, arrays and members.');
    const texts = batch.elements(MAX_BATCH_EVENTS + 1);
    if (texts === undefined) throw new CloudEventError('The batch of CloudEvents is not a JSON array.');
    if (texts.length > MAX_BATCH_EVENTS)
      throw new CloudEventError('The batch has more than 10000 CloudEvents. Send at most 10000 at a time.');
    return texts.map((text, i) => {
      try {
        return SentEvent.read(text);
      } catch (error) {
        if (!(error instanceof CloudEventError)) throw error;
        throw new CloudEventError(`Event ${String(i + 1)} of the batch: ${error.message}`);
      }
    });
  },

  /**
   * Reads the attributes of an event in binary content mode, whose data is the body: from `ce-` header fields, and
   * `datacontenttype` from `Content-Type`. Returns undefined if the header fields announce no such event.
   *
   * @throws {CloudEventError} an attribute is not valid.
   */
  binaryAttributes(headers: IncomingHttpHeaders): SenderAttributes | undefined {
    if (ANNOUNCING.every((field) => headers[field] === undefined)) return undefined;
    const given = Object.entries(headers).flatMap(([field, value]) => {
      if (!field.startsWith(PREFIX)) return [];
      const name = field.slice(PREFIX.length);
      if (DATA_NAMES.includes(name))
        throw new CloudEventError(`The CloudEvent's ${name} must be the body of the request, not the field ${field}.`);
      return [[name, attributeValue(name, String(value))] as const];
    });
    return senderAttributes({ ...Object.fromEntries(given), datacontenttype: headers['content-type'] });
  },

  /** Reads an event of any size. Its data is taken from the text, so that numbers keep their digits. @throws {CloudEventError} */
  read(json: string): SentEvent {
    const members = membersIn('The CloudEvent', json);
    return { attributes: attributesIn(members), payload: payloadIn(members, members.get('data')?.trim()) };
  },
};

/** Reads the context attributes among the members of an event, of which `others` are none. @throws {CloudEventError} */
export function attributesIn(members: Members, others = DATA_NAMES): SenderAttributes {
  const given = [...members].filter(([name]) => !others.includes(name));
  // No attribute within the limits is written with more characters.
  if (given.some(([, value]) => value.length > 100_000)) throw tooLarge();
  return senderAttributes(Object.fromEntries(given.map(([name, value]) => [name, JSON.parse(value) as unknown])));
}

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/;
const BAD_ESCAPE = /%(?![\da-f]{2})/i;

/**
 * Decodes a header value (section 3.1.3.2): first a quoted string, then percent-encoded UTF-8; UTF-8 that was not encoded is taken too.
 * Some senders do not encode: what is not an escape, or would make the attribute invalid (`/a%20b` as the source), stays as it came.
 */
function attributeValue(name: string, value: string): string {
  const quoted = QUOTED.exec(value)?.[1];
  const text = quoted === undefined ? value : quoted.replace(/\\(.)/g, '$1');
  const bytes = unescapeBuffer(text);
  if (!isUtf8(bytes))
    throw new CloudEventError(`The CloudEvent's attribute ${name} must be percent-encoded UTF-8 in a header field.`);
  const decoded = bytes.toString();
  if (!text.includes('%')) return decoded;
  const isEncoded = !BAD_ESCAPE.test(text) && attributeProblem(name, decoded) === undefined;
  return isEncoded ? decoded : Buffer.from(text, 'latin1').toString();
}

/** The members of an event, by name, each value as JSON text. */
export type Members = ReadonlyMap<string, string>;

/** Reads the text of a JSON object. @throws {CloudEventError} it is anything else, or which of two members is meant cannot be known. */
export function membersIn(what: string, json = ''): Members {
  const members = new JsonText(json).members();
  if (members === undefined) throw new CloudEventError(`${what} is not a JSON object, or has a member twice.`);
  return members;
}

/** Reads the payload of an event, if it has one. @throws {CloudEventError} it has both `data` and `data_base64`, or this is not base64. */
export function payloadIn(members: Members, json = members.get('data')): Payload | undefined {
  const base64 = valueIn(members, 'data_base64') ?? undefined;
  if (base64 === undefined) return json === undefined ? undefined : { mediaType: undefined, json };
  if (json !== undefined) throw new CloudEventError('The CloudEvent has both data and data_base64.');
  if (typeof base64 !== 'string' || base64.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(base64))
    throw new CloudEventError("The CloudEvent's member data_base64 must be a base64 string.");
  return { mediaType: undefined, bytes: Buffer.from(base64, 'base64') };
}

/** Returns what a member stands for; undefined if there is none. */
export function valueIn(members: Members, name: string): unknown {
  const text = members.get(name);
  return text === undefined ? undefined : JSON.parse(text);
}
