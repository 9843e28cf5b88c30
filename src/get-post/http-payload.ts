import type { IncomingHttpHeaders } from 'node:http';
import { charsetOfMark, charsetOfXml, decode, isKnownCharset, type MediaType } from '../http/content/content-type';
import { hasTooManyParts } from '../events/cloudevents/json-text';
import type { Payload } from '../events/payload';
import { parseFormFields, type FormFields } from './form-fields';

/** The media type of a form (HTML, section 4.10.21). */
export const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;
const TEXT_TYPE =
  /^text\/|^application\/x-www-form-urlencoded$|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

/** What a caller sent over HTTP GET or POST. */
export interface HttpInput {
  /** The query string, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed `Content-Type`, if it is valid. */
  readonly mediaType: MediaType | undefined;
  readonly body: Buffer;
}

/**
 * Reads the payload: the fields of a form, any other body by its content type or, without a body, the query string. A form
 * that is one JSON object or array is read as JSON: `curl -d` labels everything a form.
 */
export function httpPayload(input: HttpInput): Payload | undefined {
  const { query, mediaType, body } = input;
  if (body.length === 0) return query === '' ? undefined : fieldsPayload(parseFormFields(query), query);
  if (mediaType?.essence !== FORM) return bodyPayload(input);
  const json = jsonForm(mediaType, body);
  if (json !== undefined) return { mediaType: 'application/json', ...json };
  const encoded = body.toString('latin1');
  return fieldsPayload(parseFormFields(encoded, bodyCharset(mediaType, body)), decode(body, 'utf-8') ?? encoded);
}

/**
 * Reads a body by its content type. A body that is not what its content type says is kept as text or, failing that, as
 * bytes: a sender's mistake never loses an event.
 */
export function bodyPayload({ headers, mediaType, body }: Omit<HttpInput, 'query'>): Payload {
  const contentType = headers['content-type'];
  const text = bodyText(mediaType, body);
  if (text === undefined) return { mediaType: contentType, bytes: body };
  if (!isJsonType(mediaType?.essence ?? '')) return { mediaType: contentType, text };
  const json = parsedJson(text);
  return json === undefined ? { mediaType: 'text/plain', text } : { mediaType: contentType, ...json };
}

/** Decodes a body that is text by its content type. Returns undefined for other types, or if the bytes are not text. */
export function bodyText(mediaType: MediaType | undefined, body: Buffer): string | undefined {
  return isText(mediaType) ? decode(body, bodyCharset(mediaType, body)) : undefined;
}

function fieldsPayload(fields: FormFields | undefined, text: string): Payload {
  if (fields === undefined || fields.hasUndecodable) return { mediaType: FORM, text };
  return { mediaType: 'application/json', json: JSON.stringify(fields.values), value: fields.values };
}

/** Returns the JSON object or array that a form consists of, if it does. */
export function jsonForm(mediaType: MediaType, body: Buffer): ParsedJson | undefined {
  const text = decode(body, bodyCharset(mediaType, body))?.trim();
  return text !== undefined && /^[[{]/.test(text) ? parsedJson(text) : undefined;
}

function isText(mediaType: MediaType | undefined): boolean {
  if (mediaType === undefined || mediaType.charset !== undefined) return true;
  return mediaType.isXml || isJsonType(mediaType.essence) || TEXT_TYPE.test(mediaType.essence);
}

/**
 * The character set: the one that the content type names, else the one that the body announces itself, else UTF-8. In XML a
 * byte order mark comes first (RFC 7303, section 3).
 */
export function bodyCharset(mediaType: MediaType | undefined, body: Buffer): string {
  const isXml = mediaType?.isXml === true;
  const mark = charsetOfMark(body);
  const named = mediaType?.charset;
  const candidates = isXml ? [mark, named, charsetOfXml(body)] : [named, mark];
  return candidates.find((charset) => charset !== undefined && isKnownCharset(charset)) ?? 'utf-8';
}

/** Whether a media type is that of JSON (RFC 8259, or RFC 6839, section 3.1). */
export function isJsonType(essence: string): boolean {
  return JSON_TYPE.test(essence);
}

/** A JSON text, and what it stands for. */
export interface ParsedJson {
  readonly json: string;
  readonly value: unknown;
}

function parsedJson(json: string): ParsedJson | undefined {
  if (hasTooManyParts(json)) return undefined;
  try {
    return { json, value: JSON.parse(json) as unknown };
  } catch {
    return undefined;
  }
}
