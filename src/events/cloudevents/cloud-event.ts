import { atOnce, type Steps } from '../../util/promises';
import { parseTime } from '../../util/time';
import type { Payload } from '../payload';
import { wireBytes } from '../stored-event';
import { JsonText, type MemberText } from './json-text';
import { isMediaType, isUri, isUriReference } from './syntax';

/** Context attributes that a sender gave its event: valid CloudEvents 1.0, `id`, `source` and `type` among them. */
export interface SenderAttributes {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly [attribute: string]: string | number | boolean;
}

/** Thrown when what claims to be a CloudEvent is not a valid one; the message names the attribute that is wrong. */
export class CloudEventError extends Error {
  override readonly name = 'CloudEventError';
  readonly code = 'ERR_WEBHOOK_CLOUD_EVENT';
}

/** Most bytes that a sender's attributes take on the wire: each page of events must have room for one event's. */
const MAX_ATTRIBUTES_BYTES = 8192;

/**
 * Attributes that a log adds to the events it returns, each with its maximum bytes: an event that is sent back may be longer by
 * that. One sent through several logs has the positions of all of them, under different names.
 */
const ADDED_BY_LOGS: readonly (readonly [name: RegExp, maxBytes: number])[] = [
  [/^time$/, 64],
  [/^(?:sender)*(?:sequence|binding)$/, 64],
  [/^dataref$/, 12_288],
  [/^traceparent$/, 255],
  [/^tracestate$/, 512],
];
const MAX_ID_LENGTH = 1024;

/** Excluded from the CloudEvents 1.0 type String (section 3.1): control characters, noncharacters, lone surrogates. */
const NOT_IN_STRING = /\p{Cc}|\p{Surrogate}|\p{Noncharacter_Code_Point}/u;

const EXTENSION_NAME = /^[a-z\d]{1,64}$/;
const EXTENSION_VALUE = 'must be a string that is not empty, a boolean or a 32-bit integer';

/** Says what is wrong with the value of an attribute, if anything is. */
type Check = (value: unknown) => string | undefined;

/** A string of CloudEvents for which a condition holds. */
function text(isValid: (value: string) => boolean = () => true, problem = ''): Check {
  return (value) => {
    if (typeof value !== 'string') return 'must be a string';
    if (value === '') return 'must not be empty';
    if (NOT_IN_STRING.test(value)) return 'must not hold control characters, noncharacters or lone surrogates';
    return isValid(value) ? undefined : problem;
  };
}

const anyText = text();

/** The attributes that CloudEvents 1.0 names, in the order in which they are checked. */
const CONTEXT: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['specversion', (value) => (value === '1.0' ? undefined : 'must be 1.0')],
  ['id', text((id) => id.length <= MAX_ID_LENGTH, `must not be longer than ${String(MAX_ID_LENGTH)} characters`)],
  ['source', text(isUriReference, 'must be a URI reference (RFC 3986)')],
  ['type', anyText],
  ['time', text((time) => parseTime(time) !== undefined, 'must be a time as in RFC 3339')],
  ['subject', anyText],
  ['datacontenttype', text(isMediaType, 'must be a media type (RFC 2046)')],
  ['dataschema', text(isUri, 'must be an absolute URI (RFC 3986)')],
  ['data', () => 'is reserved for the payload: give the attribute another name'],
]);

const REQUIRED: readonly string[] = ['specversion', 'id', 'source', 'type'];

/** An extension: a String, a Boolean or an Integer of CloudEvents. */
const extension: Check = (value) => {
  if (typeof value === 'string') return anyText(value);
  if (typeof value === 'boolean') return undefined;
  // Of other numbers `| 0` takes another one.
  return typeof value === 'number' && (value | 0) === value ? undefined : EXTENSION_VALUE;
};

/**
 * Checks context attributes against CloudEvents 1.0, section 3. An attribute that is null counts as missing.
 *
 * @throws {CloudEventError}
 */
export function senderAttributes(given: Readonly<Record<string, unknown>>): SenderAttributes {
  return atOnce(attributeSteps(Object.entries(given)));
}

/** Checks attributes as {@link senderAttributes} does, and those beyond the limit not at all. */
function* attributeSteps(given: Iterable<readonly [name: string, value: unknown]>): Steps<SenderAttributes> {
  const kept: (readonly [string, unknown])[] = [];
  let bytes = 1;
  for (const attribute of given) {
    yield;
    const [name, value] = attribute;
    if (value === null || value === undefined) continue;
    if (!isAddedByLog(name, value)) bytes += wireBytes(JSON.stringify({ [name]: value })) - 1;
    if (bytes > MAX_ATTRIBUTES_BYTES) throw tooLarge();
    kept.push(attribute);
  }
  const present: Readonly<Record<string, unknown>> = Object.fromEntries(kept);
  const misnamed = Object.keys(present).find((name) => !EXTENSION_NAME.test(name));
  if (misnamed !== undefined) {
    const name = misnamed.slice(0, 64);
    throw new CloudEventError(`The CloudEvent's attribute ${name} must have a name of lower-case letters and digits.`);
  }
  const names = new Set([...CONTEXT.keys(), ...Object.keys(present)]);
  for (const name of names) {
    const problem = problemOf(name, present);
    if (problem !== undefined) throw new CloudEventError(`The CloudEvent's attribute ${name} ${problem}.`);
  }
  return present as unknown as SenderAttributes;
}

function tooLarge(): CloudEventError {
  return new CloudEventError(`The CloudEvent's attributes take more than ${String(MAX_ATTRIBUTES_BYTES)} bytes.`);
}

function problemOf(name: string, present: Readonly<Record<string, unknown>>): string | undefined {
  if (!Object.hasOwn(present, name)) return REQUIRED.includes(name) ? 'is missing' : undefined;
  return attributeProblem(name, present[name]);
}

/** Says what is wrong with the value of an attribute, if anything is. */
export function attributeProblem(name: string, value: unknown): string | undefined {
  return (CONTEXT.get(name) ?? extension)(value);
}

function isAddedByLog(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return ADDED_BY_LOGS.some(([names, maxBytes]) => names.test(name) && wireBytes(value) <= maxBytes);
}

/** Attributes that the log itself gives every event. */
const RESERVED: readonly string[] = ['sequence', 'binding'];
const PREFIX = 'sender';

/**
 * Renames the attributes whose names the log uses itself: a sender's `sequence` becomes `sendersequence`, or
 * `sendersendersequence` if it has one of that name too, as after several logs.
 */
export function withoutReservedNames(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!RESERVED.some((name) => Object.hasOwn(attributes, name))) return attributes;
  const freeName = (name: string): string => {
    let free = PREFIX + name;
    while (Object.hasOwn(attributes, free)) free = PREFIX + free;
    return free;
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [RESERVED.includes(name) ? freeName(name) : name, value]),
  );
}

/** A CloudEvent as a sender wrote it. */
export interface ParsedCloudEvent {
  readonly attributes: SenderAttributes;
  readonly payload: Payload | undefined;
}

/** Most events in a batch: as many as GetEvents can be set to return, so that what it gives can be sent back. */
const MAX_BATCH_EVENTS = 10_000;
const MAX_BATCH_PARTS = 300_000;

/**
 * Reads a batch of CloudEvents in the JSON format (CloudEvents 1.0 JSON format, section 4): an array of events, which may
 * be empty.
 *
 * @throws {CloudEventError} it is not an array, has more than 10,000 events or 300,000 JSON objects, arrays and members, or
 * an event in it is not valid; the message names the first such event by its number, counted from 1.
 */
export function* cloudEventBatch(json: string): Steps<ParsedCloudEvent[]> {
  const batch = new JsonText(json);
  if (batch.hasTooManyParts(MAX_BATCH_PARTS)) {
    throw new CloudEventError('The batch of CloudEvents has more than 300,000 objects, arrays and members.');
  }
  const texts = yield* batch.elements(MAX_BATCH_EVENTS + 1);
  if (texts === undefined) throw new CloudEventError('The batch of CloudEvents is not a JSON array.');
  if (texts.length > MAX_BATCH_EVENTS) {
    throw new CloudEventError(
      `The batch has more than ${String(MAX_BATCH_EVENTS)} CloudEvents. Send at most ${String(MAX_BATCH_EVENTS)} at a time.`,
    );
  }
  const events: ParsedCloudEvent[] = [];
  for (const text of texts) {
    try {
      events.push(yield* cloudEvent(text));
    } catch (error) {
      if (!(error instanceof CloudEventError)) throw error;
      throw new CloudEventError(`Event ${String(events.length + 1)} of the batch: ${error.message}`);
    }
  }
  return events;
}

/**
 * Reads the text of a JSON object.
 *
 * @throws {CloudEventError} the text is anything else.
 */
export function parseJsonObject(json: string | undefined): Record<string, unknown> {
  const value = parse(json ?? '');
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw noObject();
}

function noObject(): CloudEventError {
  return new CloudEventError('The CloudEvent is not a JSON object.');
}

/** No attribute within the limits is written with more characters. */
const MAX_ATTRIBUTE_TEXT = 100_000;

/**
 * Reads a CloudEvent in the JSON format (CloudEvents 1.0). Its data is taken from the text, so that numbers keep their digits.
 *
 * @throws {CloudEventError} it is not valid.
 */
export function* cloudEvent(json: string): Steps<ParsedCloudEvent> {
  const members = yield* new JsonText(json).members();
  if (members === undefined) throw noObject();
  const attributes = yield* attributeSteps(attributesIn(members));
  const data = members.get('data')?.value.trim();
  const base64 = members.get('data_base64')?.value;
  const parsed = base64 && parse(base64);
  yield;
  const bytes = bytesOf(data, parsed);
  yield;
  if (bytes !== undefined) return { attributes, payload: { mediaType: undefined, bytes } };
  return { attributes, payload: data === undefined ? undefined : { mediaType: undefined, json: data } };
}

function* attributesIn(members: ReadonlyMap<string, MemberText>): Generator<readonly [string, unknown]> {
  for (const [name, { value }] of members) {
    if (name === 'data' || name === 'data_base64') continue;
    if (value.length > MAX_ATTRIBUTE_TEXT) throw tooLarge();
    yield [name, JSON.parse(value)];
  }
}

/**
 * Reads the `data_base64` of an event, if it has one, which must not have `data` beside it.
 *
 * @throws {CloudEventError} it has both, or `data_base64` is not base64.
 */
export function bytesOf(data: unknown, base64: unknown): Buffer | undefined {
  if (base64 === undefined || base64 === null) return undefined;
  if (data !== undefined) throw new CloudEventError('The CloudEvent has both data and data_base64.');
  if (typeof base64 !== 'string' || base64.length % 4 !== 0 || !/^[A-Za-z\d+/]*={0,2}$/.test(base64)) {
    throw new CloudEventError("The CloudEvent's member data_base64 must be a base64 string.");
  }
  return Buffer.from(base64, 'base64');
}

/** Undefined if the text is not JSON. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
