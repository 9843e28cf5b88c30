/** The characters of a URI (RFC 3986, section 2), of which `URL` takes others too. */
const CHARACTER = "(?:[\\w.~!$&'()*+,;=:@/?-]|%[\\da-f]{2})";
const URI_TEXT = new RegExp(`^(?:${CHARACTER}|[[\\]])*(?:#${CHARACTER}*)?$`, 'i');
const SCHEME = /^[a-z][a-z\d+.-]*:/i;

const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** Without control characters, which CloudEvents excludes from attributes. */
const QUOTED = '"(?:[^"\\\\\\p{Cc}]|\\\\\\P{Cc})*"';
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?: *;(?: *${TOKEN}=(?:${TOKEN}|${QUOTED}))?)* *$`, 'u');

/** Whether a text is a URI (RFC 3986, section 3), that is, has a scheme. */
export function isUri(text: string): boolean {
  return SCHEME.test(text) && isUriReference(text);
}

/** Whether a text is a URI or a relative reference (RFC 3986, section 4.1). */
export function isUriReference(text: string): boolean {
  return URI_TEXT.test(text) && URL.canParse(text, 'http://host/');
}

/** Whether a text is a media type (RFC 2046 and RFC 9110, section 8.3.1), without tabs, which no attribute may hold. */
export function isMediaType(text: string): boolean {
  return MEDIA_TYPE.test(text);
}

/** W3C Trace Context, section 3.2: version, trace id, parent id and flags; a version after 00 may add more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-[\x21-\x7e]{0,199})?$/;

/** W3C Trace Context, section 3.3, as far as an attribute of an event is concerned. */
const TRACESTATE = /^[\x20-\x7e]{1,512}$/;

/** Reads the trace context of a request as attributes of its event (CloudEvents distributed tracing extension), as far as it is valid. */
export function traceAttributes({
  traceparent,
  tracestate,
}: Readonly<Record<string, string | string[] | undefined>>): Readonly<Record<string, string>> | undefined {
  const match = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
  if (match === null || (match[1] === '00' && match[2] !== undefined)) return undefined;
  const isKept = typeof tracestate === 'string' && TRACESTATE.test(tracestate);
  return { traceparent: match[0], ...(isKept ? { tracestate } : undefined) };
}
