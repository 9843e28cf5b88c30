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
