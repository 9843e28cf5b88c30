import type { IncomingHttpHeaders } from 'node:http';
import { charsetOfMark, charsetOfXml, decode, isKnownCharset } from '../../http/content/charset';
import type { MediaType } from '../../http/content/media-type';
import { RequestError } from '../../http/request-error';
import { hasTooManyParts } from '../../events/cloudevents/json-text';
import type { Payload } from '../../events/payload';
import type { NamedValues } from '../../service/call';
import { parseFormFields, type FormFields } from './form-fields';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;
const TEXT_TYPE =
  /^text\/|^application\/x-www-form-urlencoded$|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

/** What a caller sent over HTTP GET or POST. */
export interface HttpInput {
  /** The query string, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed `Content-Type`; undefined if it is missing or not valid. */
  readonly mediaType: MediaType | undefined;
  readonly body: Buffer;
}

/**
 * Reads the payload: the fields of a form, any other body by its content type or, without a body, the query string. A form
 * that is one JSON object or array is JSON: `curl -d` says that whatever it sends is a form.
 */
export function httpPayload(input: HttpInput): Payload | undefined {
  const { query, mediaType, body } = input;
  if (body.length === 0) return query === '' ? undefined : fieldsPayload(parseFormFields(query), query);
  if (mediaType?.essence !== FORM) return bodyPayload(input);
  const json = jsonForm(mediaType, body);
  if (json !== undefined) return { mediaType: 'application/json', json };
  const encoded = body.toString('latin1');
  return fieldsPayload(parseFormFields(encoded, charsetOf(body, mediaType)), decode(body, 'utf-8') ?? encoded);
}

/**
 * Reads a body by its content type. A body that is not what its content type says is kept as text or, failing that, as
 * bytes: a sender's mistake never loses an event.
 */
export function bodyPayload({ headers, mediaType, body }: Omit<HttpInput, 'query'>): Payload {
  const contentType = headers['content-type'];
  const text = bodyText(mediaType, body);
  if (text === undefined) return { mediaType: contentType, bytes: body };
  if (!JSON_TYPE.test(mediaType?.essence ?? '')) return { mediaType: contentType, text };
  return isJson(text) ? { mediaType: contentType, json: text } : { mediaType: 'text/plain', text };
}

/** Decodes a body whose content type says that it is text; undefined if it does not, or if the bytes are not text. */
export function bodyText(mediaType: MediaType | undefined, body: Buffer): string | undefined {
  return isText(mediaType) ? decode(body, charsetOf(body, mediaType)) : undefined;
}

/**
 * The parameters of the call: the fields of the query string and of a form. A field of the form replaces one of the same
 * name in the query string. A form that is JSON has no fields.
 *
 * @throws {RequestError} there are too many fields.
 */
export function httpParameters({ query, mediaType, body }: HttpInput): NamedValues {
  const isForm = mediaType?.essence === FORM && jsonForm(mediaType, body) === undefined;
  const form = isForm ? fieldValues(body.toString('latin1'), charsetOf(body, mediaType)) : undefined;
  return { ...fieldValues(query), ...form };
}

function fieldValues(encoded: string, charset?: string): NamedValues {
  const fields = parseFormFields(encoded, charset);
  if (fields === undefined) throw new RequestError(400, 'The query string or the form has too many fields.');
  return fields.values;
}

function fieldsPayload(fields: FormFields | undefined, text: string): Payload {
  if (fields === undefined || fields.hasUndecodable) return { mediaType: FORM, text };
  return { mediaType: 'application/json', json: JSON.stringify(fields.values) };
}

/** The JSON object or array that a form consists of; undefined if the form is anything else. */
function jsonForm(mediaType: MediaType, body: Buffer): string | undefined {
  const text = decode(body, charsetOf(body, mediaType))?.trim();
  return text !== undefined && /^[[{]/.test(text) && isJson(text) ? text : undefined;
}

function isText(mediaType: MediaType | undefined): boolean {
  if (mediaType === undefined || mediaType.charset !== undefined) return true;
  return mediaType.isXml || [JSON_TYPE, TEXT_TYPE].some((type) => type.test(mediaType.essence));
}

/**
 * The character set: the one that the content type names, else the one that the body announces itself, else UTF-8. In XML a
 * byte order mark comes first (RFC 7303, section 3).
 */
function charsetOf(body: Buffer, mediaType: MediaType | undefined): string {
  const isXml = mediaType?.isXml === true;
  const mark = charsetOfMark(body);
  const named = mediaType?.charset;
  const candidates = isXml ? [mark, named, charsetOfXml(body)] : [named, mark];
  return candidates.find((charset) => charset !== undefined && isKnownCharset(charset)) ?? 'utf-8';
}

function isJson(text: string): boolean {
  if (hasTooManyParts(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
