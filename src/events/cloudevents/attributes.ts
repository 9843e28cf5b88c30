import { parseTime } from '../../util/time';
import { wireBytes } from '../stored-event';

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

/** Attributes that logs add to the events they return, each with its maximum bytes: an event that is sent back may be longer by that. */
const ADDED_BY_LOGS: readonly (readonly [name: RegExp, maxBytes: number])[] = [
  [/^time$/, 64],
  [/^(?:sender)*(?:sequence|binding)$/, 64],
  [/^dataref$/, 12_288],
  [/^traceparent$/, 255],
  [/^tracestate$/, 512],
];
const MAX_ID_LENGTH = 1024;

/** Excluded from the CloudEvents 1.0 type String (section 3.1). */
const NOT_IN_STRING = /\p{Cc}|\p{Surrogate}|\p{Noncharacter_Code_Point}/u;

const EXTENSION_NAME = /^[a-z\d]{1,64}$/;

/** The characters of a URI (RFC 3986, section 2); `URL` accepts others too. */
const CHARACTER = "(?:[\\w.~!$&'()*+,;=:@/?-]|%[\\da-f]{2})";
const URI_TEXT = new RegExp(`^(?:${CHARACTER}|[[\\]])*(?:#${CHARACTER}*)?$`, 'i');
const SCHEME = /^[a-z][a-z\d+.-]*:/i;

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** Without control characters, which CloudEvents excludes from attributes. */
const QUOTED = '"(?:[^"\\\\\\p{Cc}]|\\\\\\P{Cc})*"';
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;(?: *${TOKEN}=(?:${TOKEN}|${QUOTED}))?)* *$`, 'u');

/** Whether a text is a URI or a relative reference (RFC 3986, section 4.1). */
const isUriReference = (text: string): boolean => URI_TEXT.test(text) && URL.canParse(text, 'http://host/');

/** Whether a text is a media type (RFC 2046 and RFC 9110, section 8.3.1), without tabs, which no attribute may hold. */
export const isMediaType = (text: string): boolean => MEDIA_TYPE.test(text);

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
  ['dataschema', text((uri) => SCHEME.test(uri) && isUriReference(uri), 'must be an absolute URI (RFC 3986)')],
  ['data', () => 'is reserved for the payload: give the attribute another name'],
]);

const REQUIRED: readonly string[] = ['specversion', 'id', 'source', 'type'];

/** An extension: a String, a Boolean or an Integer of CloudEvents. */
const extension: Check = (value) => {
  if (typeof value === 'string') return anyText(value);
  if (typeof value === 'boolean') return undefined;
  // `| 0` changes every other number.
  const isInteger = typeof value === 'number' && (value | 0) === value;
  return isInteger ? undefined : 'must be a string that is not empty, a boolean or a 32-bit integer';
};

/**
 * Checks context attributes against CloudEvents 1.0, section 3. One that is null counts as missing.
 *
 * @throws {CloudEventError} one is missing or not valid, or together they are too large, in which case none was checked.
 */
export function senderAttributes(given: Readonly<Record<string, unknown>>): SenderAttributes {
  const kept = Object.entries(given).filter(([, value]) => value !== null && value !== undefined);
  let bytes = 1;
  for (const [name, value] of kept) {
    if (!isAddedByLog(name, value)) bytes += wireBytes(JSON.stringify({ [name]: value })) - 1;
    if (bytes > MAX_ATTRIBUTES_BYTES) throw tooLarge();
  }
  const present: Readonly<Record<string, unknown>> = Object.fromEntries(kept);
  const misnamed = Object.keys(present).find((name) => !EXTENSION_NAME.test(name));
  if (misnamed !== undefined) throw invalid(misnamed.slice(0, 64), 'must have a name of lower-case letters and digits');
  for (const name of new Set([...CONTEXT.keys(), ...Object.keys(present)])) {
    const isThere = Object.hasOwn(present, name);
    if (!isThere && REQUIRED.includes(name)) throw invalid(name, 'is missing');
    const problem = isThere ? attributeProblem(name, present[name]) : undefined;
    if (problem !== undefined) throw invalid(name, problem);
  }
  return present as unknown as SenderAttributes;
}

export function tooLarge(): CloudEventError {
  return new CloudEventError(`The CloudEvent's attributes take more than ${String(MAX_ATTRIBUTES_BYTES)} bytes.`);
}

function invalid(name: string, problem: string): CloudEventError {
  return new CloudEventError(`The CloudEvent's attribute ${name} ${problem}.`);
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

/** Renames the attributes whose names the log uses itself: a sender's `sequence` becomes `sendersequence`, or `sendersendersequence` if it has that too. */
export function withoutReservedNames(attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!RESERVED.some((name) => Object.hasOwn(attributes, name))) return attributes;
  const freeName = (name: string): string => {
    let free = `sender${name}`;
    while (Object.hasOwn(attributes, free)) free = `sender${free}`;
    return free;
  };
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [RESERVED.includes(name) ? freeName(name) : name, value]),
  );
}

/** W3C Trace Context, section 3.2: version, trace id, parent id and flags; a version after 00 may add more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]{0,199})?$/;

/** W3C Trace Context, section 3.3, as far as an attribute of an event is concerned. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Reads the trace context of a request as attributes of its event (CloudEvents distributed tracing extension), as far as it is valid. */
export function traceAttributes({ traceparent, tracestate }: NodeJS.ReadOnlyDict<string | string[]>) {
  const match = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
  if (match === null || (match[1] === '00' && match[2] !== undefined)) return undefined;
  const isKept = typeof tracestate === 'string' && TRACESTATE.test(tracestate);
  return { traceparent: match[0], ...(isKept ? { tracestate } : undefined) };
}
