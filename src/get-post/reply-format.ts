import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';
import escapeHtml from 'escape-html';
import Negotiator from 'negotiator';
import { textElement, XML_DECLARATION } from '../xml/characters';

/** A reply in the form that its caller accepts. */
export interface Representation {
  readonly status?: 204;
  readonly contentType: string;
  readonly body: string;
  readonly headers: OutgoingHttpHeaders;
}

const VARY = { Vary: 'Accept, Accept-Encoding' };

/** Returns a function that writes a result as XML: one `string` element around it. */
export function stringReply(namespace: string): (result: string) => Representation {
  const element = textElement(namespace, 'string');
  return (result) => ({
    contentType: 'text/xml; charset=utf-8',
    body: `${XML_DECLARATION}\n${element(result)}`,
    headers: VARY,
  });
}

/** Keeps browsers from showing a caller's text as a page. */
export const NOT_SNIFFED = { 'X-Content-Type-Options': 'nosniff' };
const NEGOTIATED = { ...VARY, ...NOT_SNIFFED };

const JSON_TYPE = 'application/json';
const PROBLEM = 'application/problem+json';

/** The types that a caller can name to get errors as JSON. */
const JSON_TYPES: ReadonlySet<string> = new Set([JSON_TYPE, PROBLEM, 'application/cloudevents-batch+json']);

const XML_RANGES: ReadonlySet<string> = new Set(['text/xml', 'application/xml', 'text/*', 'application/*', '*/*']);

/**
 * Writes a result in the form that its caller accepts (RFC 9110, section 12.5.1): as one `string` element, or as JSON for callers who
 * name a JSON type and nothing that XML satisfies: many clients list JSON first. With a `mediaType` the result itself is the reply.
 */
export function resultIn(
  accept: string | undefined,
  result: string,
  mediaType: string | undefined,
  asString: (result: string) => Representation,
): Representation {
  const { types, takesXml } = acceptanceOf(accept);
  const type = takesXml ? undefined : types.find((name) => name === JSON_TYPE || name === mediaType);
  if (type === undefined) return asString(result);
  const body = mediaType === undefined ? JSON.stringify(result) : result;
  return { contentType: type, body, headers: NEGOTIATED };
}

/**
 * Writes an error as one line of text, or as problem details (RFC 9457) for callers who get results as JSON, and for those who name that
 * type beside XML. `isOriginal`: ASP.NET gives the same message.
 */
export function errorIn(
  accept: string | undefined,
  status: number,
  message: string,
  isOriginal: boolean,
): Representation {
  const { types, takesXml } = acceptanceOf(accept);
  if (types.includes(PROBLEM) || (!takesXml && types.some((name) => JSON_TYPES.has(name)))) {
    const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail: message };
    return { contentType: PROBLEM, body: JSON.stringify(problem), headers: NEGOTIATED };
  }
  // ASP.NET HTML-escapes the messages of its exceptions, although it sends them as plain text.
  const text = isOriginal ? escapeHtml(message) : message;
  return { contentType: 'text/plain; charset=utf-8', body: `${text}\n`, headers: NEGOTIATED };
}

/** The media types and ranges that a caller accepts, the preferred first, and whether XML satisfies one. */
function acceptanceOf(accept: string | undefined): { readonly types: readonly string[]; readonly takesXml: boolean } {
  // Anything (RFC 9110, section 12.5.1), as most requests.
  if (accept === undefined) return { types: [], takesXml: true };
  const types = new Negotiator({ headers: { accept } }).mediaTypes().map((type) => type.toLowerCase());
  return { types, takesXml: types.some((type) => XML_RANGES.has(type)) };
}
