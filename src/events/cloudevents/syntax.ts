const SCHEME = '[a-z][a-z\\d+.-]*:';
const PERCENT = '%[\\da-f]{2}';
const SEGMENT = `(?:[\\w.~!$&'()*+,;=:@-]|${PERCENT})`;
const IP_LITERAL = `\\[(?:[\\da-f:.]+|v[\\da-f]+\\.[\\w.~!$&'()*+,;=:-]+)\\]`;
const NAME = `(?:[\\w.~!$&'()*+,;=-]|${PERCENT})*`;
const USER = `(?:(?:[\\w.~!$&'()*+,;=:-]|${PERCENT})*@)?`;
const AUTHORITY = `//${USER}(?:${IP_LITERAL}|${NAME})(?::\\d*)?(?:/(?:${SEGMENT}|/)*)?`;
const PATH = `(?!//)(?:${SEGMENT}|/)*`;
const QUERY_AND_FRAGMENT = `(?:\\?(?:${SEGMENT}|[/?])*)?(?:#(?:${SEGMENT}|[/?])*)?`;

const URI = new RegExp(`^${SCHEME}(?:${AUTHORITY}|${PATH})${QUERY_AND_FRAGMENT}$`, 'i');
/** Its first segment has no colon, which would end a scheme. */
const RELATIVE_REFERENCE = new RegExp(`^(?:${AUTHORITY}|(?![^/?#]*:)${PATH})${QUERY_AND_FRAGMENT}$`, 'i');

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** Without control characters, which CloudEvents excludes from attributes. */
const QUOTED = '"(?:[^"\\\\\\p{Cc}]|\\\\\\P{Cc})*"';
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;(?: *${TOKEN}=(?:${TOKEN}|${QUOTED}))?)* *$`, 'u');

/** Whether a text is a URI (RFC 3986, section 3), that is, has a scheme. */
export function isUri(text: string): boolean {
  return URI.test(text);
}

/** Whether a text is a URI or a relative reference (RFC 3986, section 4.1). */
export function isUriReference(text: string): boolean {
  return URI.test(text) || RELATIVE_REFERENCE.test(text);
}

/**
 * Whether a text is a media type with or without parameters (RFC 2046 and RFC 9110, section 8.3.1). One with tabs, which HTTP
 * allows, is not: an attribute must not hold them.
 */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text);
}

/** The attributes of the CloudEvents distributed tracing extension. */
export interface TraceAttributes {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** W3C Trace Context, section 3.2: version, trace id, parent id and flags; a version after 00 may add more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]*)?$/;

/** W3C Trace Context, section 3.3: `key=value` members, separated by commas. */
const TRACESTATE_MEMBER =
  /^(?:[a-z][a-z\d_*/-]{0,255}|[a-z\d][a-z\d_*/-]{0,240}@[a-z][a-z\d_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const MAX_TRACEPARENT_LENGTH = 255;
const MAX_TRACESTATE_LENGTH = 512;
const MAX_TRACESTATE_MEMBERS = 32;

/**
 * Reads the trace context of a request as attributes of its event. Undefined if `traceparent` is missing or not valid; a
 * `tracestate` that is not valid or has more than 512 characters is left out.
 */
export function traceAttributes({
  traceparent,
  tracestate,
}: Readonly<Record<string, string | string[] | undefined>>): TraceAttributes | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > MAX_TRACEPARENT_LENGTH) return undefined;
  const match = TRACEPARENT.exec(traceparent);
  if (match === null || (match[1] === '00' && match[2] !== undefined)) return undefined;
  return typeof tracestate === 'string' && isTracestate(tracestate) ? { traceparent, tracestate } : { traceparent };
}

function isTracestate(text: string): boolean {
  if (text.length > MAX_TRACESTATE_LENGTH) return false;
  const members = text.split(',').flatMap((member) => member.trim() || []);
  const areValid = members.length > 0 && members.length <= MAX_TRACESTATE_MEMBERS;
  return areValid && members.every((member) => TRACESTATE_MEMBER.test(member));
}
