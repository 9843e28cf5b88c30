import { z } from 'zod';
import { wireBytes } from './wire-bytes';

/** Context attributes that a sender gave its event: valid CloudEvents 1.0, `id`, `source` and `type` among them. */
export interface SenderAttributes {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly [attribute: string]: string | number | boolean;
}

/** Thrown when what claims to be a CloudEvent is none; the message names the attribute that is wrong. */
export class CloudEventError extends Error {
  override readonly name = 'CloudEventError';
}

/** Most bytes that the attributes of one event take on the wire: each page of events must have room for one. */
const MAX_ATTRIBUTES_BYTES = 8192;
const MAX_ID_LENGTH = 1024;

/** What the type String of CloudEvents 1.0, section 3.1, leaves out: control characters, noncharacters, surrogates. */
const NOT_IN_STRING = /\p{Cc}|\p{Surrogate}|\p{Noncharacter_Code_Point}/u;

/** Characters of a URI reference (RFC 3986, section 2), percent signs only where they escape. */
const URI_REFERENCE = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[\da-f]{2})+$/i;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;.*)?$/;
const EXTENSION_NAME = /^[a-z\d]{1,64}$/;

const text = z
  .string({ error: 'must be a string' })
  .min(1, 'must not be empty')
  .refine((value) => !NOT_IN_STRING.test(value), 'must not hold control characters, noncharacters or lone surrogates');

const attributes = z
  .object({
    specversion: z.literal('1.0', { error: 'must be 1.0' }),
    id: text.max(MAX_ID_LENGTH, `must not be longer than ${String(MAX_ID_LENGTH)} characters`),
    source: text.regex(URI_REFERENCE, 'must be a URI reference (RFC 3986)'),
    type: text,
    time: text
      .refine((value) => RFC_3339.test(value) && !Number.isNaN(Date.parse(value)), 'must be a time as in RFC 3339')
      .optional(),
    subject: text.optional(),
    datacontenttype: text.regex(MEDIA_TYPE, 'must be a media type (RFC 2046)').optional(),
    dataschema: text.refine((value) => URL.canParse(value), 'must be an absolute URI').optional(),
  })
  .catchall(
    z.union([text, z.boolean(), z.int32()], {
      error: 'must be a string that is not empty, a boolean or a 32-bit integer',
    }),
  );

/**
 * Checks context attributes against CloudEvents 1.0, section 3. An attribute that is null counts as not there.
 *
 * @throws {CloudEventError}
 */
export function senderAttributes(given: Readonly<Record<string, unknown>>): SenderAttributes {
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  if (wireBytes(JSON.stringify(set)) > MAX_ATTRIBUTES_BYTES) {
    throw new CloudEventError(`The CloudEvent's attributes take more than ${String(MAX_ATTRIBUTES_BYTES)} bytes.`);
  }
  const misnamed = Object.keys(set).find((name) => !EXTENSION_NAME.test(name));
  if (misnamed !== undefined) {
    const name = misnamed.slice(0, 64);
    throw new CloudEventError(`The CloudEvent's attribute ${name} must have a name of lower-case letters and digits.`);
  }
  const parsed = attributes.safeParse(set);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0] ?? '');
    const problem = Object.hasOwn(set, name) ? issue?.message : 'is missing';
    throw new CloudEventError(`The CloudEvent's attribute ${name} ${problem ?? 'is not valid'}.`);
  }
  return set as unknown as SenderAttributes;
}
