import { z } from 'zod';
import { parseTime } from '../../lang/rfc3339';
import { wireBytes } from '../wire-bytes';
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
}

/** Most bytes that a sender's attributes take on the wire: each page of events must have room for one event's. */
const MAX_ATTRIBUTES_BYTES = 8192;

/**
 * What a log adds to the events that it gives out, each with the most bytes that it takes. An event that is sent back may
 * be longer by that. Sent through several logs, it has the positions of all of them under names of their own.
 */
const ADDED_BY_LOGS: readonly (readonly [name: RegExp, maxBytes: number])[] = [
  [/^time$/, 64],
  [/^(?:sender)*(?:sequence|binding)$/, 64],
  [/^dataref$/, 12_288],
];
const MAX_ID_LENGTH = 1024;

/** What the CloudEvents 1.0 type String (section 3.1) excludes: control characters, noncharacters, lone surrogates. */
const NOT_IN_STRING = /\p{Cc}|\p{Surrogate}|\p{Noncharacter_Code_Point}/u;

const EXTENSION_NAME = /^[a-z\d]{1,64}$/;
const EXTENSION_VALUE = 'must be a string that is not empty, a boolean or a 32-bit integer';

const text = z
  .string({ error: 'must be a string' })
  .min(1, 'must not be empty')
  .refine((value) => !NOT_IN_STRING.test(value), 'must not hold control characters, noncharacters or lone surrogates');

const attributes = z
  .object({
    specversion: z.literal('1.0', { error: 'must be 1.0' }),
    id: text.max(MAX_ID_LENGTH, `must not be longer than ${String(MAX_ID_LENGTH)} characters`),
    source: text.refine(isUriReference, 'must be a URI reference (RFC 3986)'),
    type: text,
    time: text.refine((value) => parseTime(value) !== undefined, 'must be a time as in RFC 3339').optional(),
    subject: text.optional(),
    datacontenttype: text.refine(isMediaType, 'must be a media type (RFC 2046)').optional(),
    dataschema: text.refine(isUri, 'must be an absolute URI (RFC 3986)').optional(),
    data: z.undefined({ error: 'is reserved for the payload: give the attribute another name' }).optional(),
  })
  .catchall(z.union([text, z.boolean(), z.int32({ error: EXTENSION_VALUE })], { error: EXTENSION_VALUE }));

/**
 * Checks context attributes against CloudEvents 1.0, section 3. An attribute that is null counts as missing.
 *
 * @throws {CloudEventError}
 */
export function senderAttributes(given: Readonly<Record<string, unknown>>): SenderAttributes {
  const present = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null && value !== undefined),
  );
  if (bytesOf(present) > MAX_ATTRIBUTES_BYTES && bytesOf(withoutAdded(present)) > MAX_ATTRIBUTES_BYTES) {
    throw new CloudEventError(`The CloudEvent's attributes take more than ${String(MAX_ATTRIBUTES_BYTES)} bytes.`);
  }
  const misnamed = Object.keys(present).find((name) => !EXTENSION_NAME.test(name));
  if (misnamed !== undefined) {
    const name = misnamed.slice(0, 64);
    throw new CloudEventError(`The CloudEvent's attribute ${name} must have a name of lower-case letters and digits.`);
  }
  const parsed = attributes.safeParse(present);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0] ?? '');
    const problem = Object.hasOwn(present, name) ? issue?.message : 'is missing';
    throw new CloudEventError(`The CloudEvent's attribute ${name} ${problem ?? 'is not valid'}.`);
  }
  return present as unknown as SenderAttributes;
}

function bytesOf(attributes: Readonly<Record<string, unknown>>): number {
  return wireBytes(JSON.stringify(attributes));
}

function withoutAdded(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(attributes).filter(([name, value]) => !isAddedByLog(name, value)));
}

function isAddedByLog(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return ADDED_BY_LOGS.some(([names, maxBytes]) => names.test(name) && wireBytes(value) <= maxBytes);
}
