import { createHash } from 'node:crypto';
import { JsonText } from '../../events/cloudevents/json-text';
import type { NewEvent } from '../../events/stored-event';

/** The keys that a sender may give an event, in the order of their claims, and their names in subjects. */
const KEYS = [
  ['idempotencyKey', 'idempotency-key'],
  ['webhookId', 'webhook-id'],
] as const;

/** The keys that an event has, each with its subject in a stream. */
export function keysOf(stream: string, event: Partial<Pick<NewEvent, 'idempotencyKey' | 'webhookId'>>) {
  return KEYS.flatMap(([key, name]) => {
    const value = event[key];
    return value === undefined ? [] : { key, subject: `${stream}.${digest(JSON.stringify([name, value]))}` };
  });
}

/** The one subject in a stream on which an event may be recorded. */
export function slotSubject(stream: string, { id, source }: Pick<NewEvent, 'id' | 'source'>): string {
  return `${stream}.${digest(id)}.${digest(source)}`;
}

/** Finds the subjects on which events with an id are, whatever their sources. */
export function slotsFilter(stream: string, id: string): string {
  return `${stream}.${digest(id)}.*`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest().toString('base64url', 0, 16);
}

/** An event with the name of the attempt that stored it, by which that attempt knows it again. */
export interface EventMessage {
  readonly attempt: string;
  readonly event: NewEvent;
}

/** The version of the format of messages. */
const VERSION = 1;

/** The first line of a message. */
interface Head extends Pick<NewEvent, 'id' | 'source' | 'recordedAt' | 'idempotencyKey' | 'webhookId'> {
  readonly webhookEvent: typeof VERSION;
  readonly attempt: string;
  /** UTF-16 code units of the attributes and of the arrival; the payload is the rest. */
  readonly attributes: number;
  readonly arrival: number;
  readonly data: boolean;
}

/** Writes an event as the body of a message: a line of JSON, then attributes, arrival and payload as they are. */
export function encodeEvent({ attempt, event }: EventMessage): Buffer {
  const { attributes, arrival, data, ...names } = event;
  const lengths = { attributes: attributes.length, arrival: arrival.length, data: data !== undefined };
  const head: Head = { webhookEvent: VERSION, attempt, ...names, ...lengths };
  return Buffer.from(`${JSON.stringify(head)}\n${attributes}${arrival}${data ?? ''}`);
}

/** Returns undefined if another program wrote the message. @throws a later version of this program wrote it. */
export function decodeEvent(body: Uint8Array): EventMessage | undefined {
  const text = textOf(body);
  const end = text.indexOf('\n');
  const head = parseHead(text.slice(0, Math.max(end, 0)));
  if (head === undefined) return undefined;
  const { attempt, id, source, recordedAt, idempotencyKey, webhookId } = head;
  const arrivalStart = end + 1 + head.attributes;
  const dataStart = arrivalStart + head.arrival;
  const attributes = text.slice(end + 1, arrivalStart);
  const arrival = text.slice(arrivalStart, dataStart);
  const data = head.data ? text.slice(dataStart) : undefined;
  return { attempt, event: { id, source, attributes, data, arrival, recordedAt, idempotencyKey, webhookId } };
}

/** As {@link decodeEvent}, from a subject on which no other program writes. */
export function requireEvent(body: Uint8Array): EventMessage {
  const message = decodeEvent(body);
  if (message === undefined) throw new Error('another program stored a message where only this one may');
  return message;
}

function parseHead(line: string): Head | undefined {
  if (!line.startsWith('{"webhookEvent":')) return undefined;
  const head = new JsonText(line).parsed()?.value as Head | undefined;
  if (head === undefined || head.webhookEvent === VERSION) return head;
  throw new Error(
    `the stream holds an event in format ${String(head.webhookEvent)}, and this program reads format ` +
      `${String(VERSION)}: a later version of the program stored it; use that version`,
  );
}

/** The place of a recorded event, which follows the claim of a key in the stream of keys. */
export interface Reference {
  readonly id: string;
  readonly sequence: number;
}

const REFERENCE_START = '{"reference":';

export function encodeReference({ id, sequence }: Reference): Buffer {
  return Buffer.from(JSON.stringify({ reference: { id, sequence } }));
}

/** Returns undefined for a claim. */
export function decodeReference(body: Uint8Array): Reference | undefined {
  if (textOf(body, REFERENCE_START.length) !== REFERENCE_START) return undefined;
  return (JSON.parse(textOf(body)) as { reference: Reference }).reference;
}

function textOf(body: Uint8Array, bytes = body.length): string {
  return Buffer.from(body.buffer, body.byteOffset, bytes).toString();
}
