import type { IncomingHttpHeaders } from 'node:http';
import { charsetOfMark, decode, isKnownCharset } from '../http/charset';
import { parseFields, type ParsedFields } from '../http/fields';
import { parseMediaType, type MediaType } from '../http/media-type';
import type { Payload } from '../events/data-member';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;
const TEXT_TYPE =
  /^text\/|^application\/x-www-form-urlencoded$|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

/** What a caller over HTTP GET or POST said. */
export interface HttpInput {
  /** The query string, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Reads the payload: the fields of a form, any other body as what it is, and where there is none the query string. */
export function httpPayload({ query, headers, body }: HttpInput): Payload | undefined {
  if (body.length === 0) return query === '' ? undefined : fieldsPayload(parseFields(query), query);
  const contentType = headers['content-type'];
  const mediaType = parseMediaType(contentType);
  if (mediaType?.essence !== FORM) return bodyPayload(contentType, body);
  const encoded = body.toString('latin1');
  return fieldsPayload(parseFields(encoded, charsetOf(body, mediaType)), decode(body, 'utf-8') ?? encoded);
}

/**
 * Reads a body by its content type. One that is not what it claims to be is taken as the text, or else the bytes, that it
 * is: no sender's slip loses an event.
 */
export function bodyPayload(contentType: string | undefined, body: Buffer): Payload {
  const text = bodyText(contentType, body);
  if (text === undefined) return { mediaType: contentType, bytes: body };
  if (!JSON_TYPE.test(parseMediaType(contentType)?.essence ?? '')) return { mediaType: contentType, text };
  return isJson(text) ? { mediaType: contentType, json: text } : { mediaType: 'text/plain', text };
}

/** The text of a body whose content type says that it is text; undefined: it is none. */
export function bodyText(contentType: string | undefined, body: Buffer): string | undefined {
  const mediaType = parseMediaType(contentType);
  return isText(mediaType) ? decode(body, charsetOf(body, mediaType)) : undefined;
}

/** The fields by which a caller chooses what it gets: those of the query string and of a form. */
export function httpParameters({ query, headers, body }: HttpInput): ParsedFields {
  const mediaType = parseMediaType(headers['content-type']);
  const form =
    mediaType?.essence === FORM ? parseFields(body.toString('latin1'), charsetOf(body, mediaType)) : undefined;
  return { ...parseFields(query), ...form };
}

function fieldsPayload(fields: ParsedFields | undefined, text: string): Payload {
  if (fields === undefined) return { mediaType: FORM, text };
  return { mediaType: 'application/json', json: JSON.stringify(fields) };
}

/** Whether a JSON text has more objects, arrays and members than are looked into; marks in strings are counted too. */
export function hasTooManyParts(text: string): boolean {
  if (text.length < MAX_JSON_PARTS) return false;
  let found = 0;
  for (const mark of ['{', '[', ':']) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) found++;
  }
  return found > MAX_JSON_PARTS;
}

function isText(mediaType: MediaType | undefined): boolean {
  if (mediaType === undefined || mediaType.charset !== undefined) return true;
  return mediaType.isXml || [JSON_TYPE, TEXT_TYPE].some((type) => type.test(mediaType.essence));
}

/** The character set that the content type names, or else that of a byte order mark, or UTF-8. */
function charsetOf(body: Buffer, mediaType: MediaType | undefined): string {
  const named = mediaType?.charset;
  if (named !== undefined && isKnownCharset(named)) return named;
  return charsetOfMark(body) ?? 'utf-8';
}

/** Most objects, arrays and members in a JSON text that is looked into; one with more is kept as the text that it is. */
const MAX_JSON_PARTS = 100_000;

function isJson(text: string): boolean {
  if (hasTooManyParts(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
