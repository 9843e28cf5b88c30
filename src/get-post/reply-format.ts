import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';
import escapeHtml from 'escape-html';
import Negotiator from 'negotiator';
import { memoized } from '../util/text';
import { textElement, type WriteText } from '../xml/text-element';
import { XML_DECLARATION } from '../xml/xml';

/** Content type of the XML reply over HTTP GET and POST. */
export const STRING_CONTENT_TYPE = 'text/xml; charset=utf-8';

/** Makes the function that writes the reply over HTTP GET and POST: one `string` element around the result. */
export function stringElement(namespace: string): WriteText {
  const write = textElement(namespace, 'string');
  return (result) => `${XML_DECLARATION}\n${write(result)}`;
}

/** What a reply says, in the form that its caller accepts. */
export interface Representation {
  readonly contentType: string;
  readonly body: string;
  /** The header fields that belong to it. */
  readonly headers: OutgoingHttpHeaders;
}

/** The header fields on which the form of a reply over HTTP GET and POST depends. */
const VARY = { Vary: 'Accept, Accept-Encoding' };

/** Keeps a browser from taking what a caller wrote for a page. */
const NOT_SNIFFED = { 'X-Content-Type-Options': 'nosniff' };

const XML = 'text/xml';
const JSON_TYPE = 'application/json';
const PROBLEM = 'application/problem+json';
const CLOUD_EVENTS = 'application/cloudevents-batch+json';
const TEXT = 'text/plain';

/**
 * The media types of results and of errors, the default first. `application/xml` comes last, so that `application/*` means
 * JSON: XML is sent as `text/xml`.
 */
const RESULT_TYPES = [XML, JSON_TYPE, 'application/xml'];
const ERROR_TYPES = [TEXT, XML, JSON_TYPE, PROBLEM, CLOUD_EVENTS, 'application/xml'];
const JSON_TYPES: ReadonlySet<string | undefined> = new Set([JSON_TYPE, PROBLEM, CLOUD_EVENTS]);

/**
 * Writes results and errors in the form that a caller accepts (`Accept`, RFC 9110, section 12.5.1): XML and plain text as
 * ASP.NET writes them, or JSON for a caller that prefers it. A caller that accepts neither gets the default.
 */
export class ReplyFormats {
  readonly #writeString: (result: string) => string;
  readonly #preferredForErrors = preferenceAmong(ERROR_TYPES);
  readonly #preferredForText = preferenceAmong(RESULT_TYPES);
  /** For results that are documents, by their media type. */
  readonly #preferredForDocuments = new Map<string, Preference>();

  constructor(namespace: string) {
    this.#writeString = stringElement(namespace);
  }

  /**
   * Writes the result of an operation: as one `string` element, or as JSON.
   *
   * @param mediaType - the media type of a result that is a document in its own right, which JSON replies consist of.
   */
  result(accept: string | undefined, result: string, mediaType: string | undefined): Representation {
    const type = this.#preferenceFor(mediaType)(accept);
    if (type === undefined || !JSON_TYPES.has(type))
      return { contentType: STRING_CONTENT_TYPE, body: this.#writeString(result), headers: VARY };
    const body = mediaType === undefined ? JSON.stringify(result) : result;
    return { contentType: type, body, headers: { ...VARY, ...NOT_SNIFFED } };
  }

  /** Writes an error: as one line of text, or as problem details (RFC 9457). */
  error(accept: string | undefined, status: number, message: string): Representation {
    const headers = { ...VARY, ...NOT_SNIFFED };
    if (JSON_TYPES.has(this.#preferredForErrors(accept))) {
      const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail: message };
      return { contentType: PROBLEM, body: JSON.stringify(problem), headers };
    }
    // ASP.NET HTML-escapes the message of an exception, although it sends it as plain text.
    return { contentType: `${TEXT}; charset=utf-8`, body: `${escapeHtml(message)}\n`, headers };
  }

  #preferenceFor(mediaType: string | undefined): Preference {
    if (mediaType === undefined) return this.#preferredForText;
    const preference = this.#preferredForDocuments.get(mediaType) ?? preferenceAmong([...RESULT_TYPES, mediaType]);
    this.#preferredForDocuments.set(mediaType, preference);
    return preference;
  }
}

/** Finds the media type that a caller prefers; undefined if it accepts none of them, or does not say. */
type Preference = (accept: string | undefined) => string | undefined;

/** A parameter of a media range, as in `application/json; charset=utf-8`; all replies are the same for any of them. */
const PARAMETER = /;\s*(?!q\s*=)[^\s;,=]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*)/gi;

function preferenceAmong(types: readonly string[]): Preference {
  const preferred = memoized((accept) =>
    new Negotiator({ headers: { accept: accept.replace(PARAMETER, '') } }).mediaType([...types]),
  );
  return (accept) => (accept === undefined || accept === '*/*' ? undefined : preferred(accept));
}
