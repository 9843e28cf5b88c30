import { charsetOfMark, decode, isKnownCharset } from '../http/charset';
import { parseFields, type ParsedFields } from '../http/fields';
import { parseMediaType, type MediaType } from '../http/media-type';
import type { Payload } from '../events/event';

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;
const XML_TYPE = /^(?:application|text)\/xml$|\+xml$/;
const TEXT_TYPE = /^text\/|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

/** What a caller over HTTP GET or POST said. */
export interface HttpInput {
  /** The query string, without the question mark. */
  readonly query: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/**
 * Reads the payload: a body by its content type, and where there is none the query string. A body that is not what it
 * claims to be is taken as the text, or else the bytes, that it is: no sender's slip loses an event.
 */
export function httpPayload({ query, contentType, body }: HttpInput): Payload | undefined {
  if (body.length === 0) return query === '' ? undefined : fieldsPayload(parseFields(query), query);
  const mediaType = parseMediaType(contentType);
  const essence = mediaType?.essence ?? '';
  if (essence === FORM) {
    const encoded = body.toString('latin1');
    return fieldsPayload(parseFields(encoded, knownCharset(mediaType)), decode(body, 'utf-8') ?? encoded);
  }
  const text = isText(mediaType) ? decode(body, charsetOf(body, mediaType)) : undefined;
  if (text === undefined) return { mediaType: contentType, bytes: body };
  if (!JSON_TYPE.test(essence)) return { mediaType: contentType, text };
  return isJson(text) ? { mediaType: contentType, json: text } : { mediaType: 'text/plain', text };
}

/** The fields by which a caller chooses what it gets: those of the query string and of a form. */
export function httpParameters({ query, contentType, body }: HttpInput): ParsedFields {
  const mediaType = parseMediaType(contentType);
  const form = mediaType?.essence === FORM ? parseFields(body.toString('latin1'), knownCharset(mediaType)) : undefined;
  return { ...parseFields(query), ...form };
}

function fieldsPayload(fields: ParsedFields | undefined, text: string): Payload {
  if (fields === undefined) return { mediaType: FORM, text };
  return { mediaType: 'application/json', json: JSON.stringify(fields) };
}

function isText(mediaType: MediaType | undefined): boolean {
  if (mediaType === undefined || mediaType.charset !== undefined) return true;
  return [JSON_TYPE, XML_TYPE, TEXT_TYPE].some((type) => type.test(mediaType.essence));
}

function charsetOf(body: Buffer, mediaType: MediaType | undefined): string {
  return charsetOfMark(body) ?? knownCharset(mediaType);
}

function knownCharset(mediaType: MediaType | undefined): string {
  const charset = mediaType?.charset ?? 'utf-8';
  return isKnownCharset(charset) ? charset : 'utf-8';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
