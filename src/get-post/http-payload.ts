import type { IncomingHttpHeaders } from 'node:http';
import { parse } from 'node:querystring';
import {
  charsetOfMark,
  charsetOfXml,
  decode,
  isDenied,
  isKnownCharset,
  isPlainText,
  type MediaType,
} from '../http/content/content-type';
import { hasTooManyParts } from '../events/cloudevents/json-text';
import type { Payload } from '../events/payload';

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

/** Decodes a body that is text by its content type, or by its bytes. Returns undefined for another, or if it cannot be decoded. */
export function bodyText(mediaType: MediaType | undefined, body: Buffer): string | undefined {
  return isText(mediaType, body) ? decode(body, bodyCharset(mediaType, body)) : undefined;
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

function isText(mediaType: MediaType | undefined, body: Buffer): boolean {
  if (mediaType === undefined || mediaType.charset !== undefined) return true;
  const { essence, isXml } = mediaType;
  if (isXml || isJsonType(essence) || TEXT_TYPE.test(essence)) return true;
  // Many such types are text: `application/jwt`, `application/csp-report`.
  return essence.startsWith('application/') && essence !== 'application/octet-stream' && isPlainText(body);
}

/**
 * The character set: the one that the content type names, else the one that the body announces itself, else UTF-8. In XML a
 * byte order mark comes first (RFC 7303, section 3).
 */
export function bodyCharset(mediaType: MediaType | undefined, body: Buffer): string {
  const isXml = mediaType?.isXml === true;
  const mark = charsetOfMark(body);
  const beginsWithAscii = isXml || isJsonType(mediaType?.essence ?? '');
  const given = mediaType?.charset;
  const named = given !== undefined && beginsWithAscii && isDenied(given, body) ? undefined : given;
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

/** Text with more fields than this is not parsed. */
const MAX_FIELDS = 10_000;

/** Named values of a query string or form: a string for a name that occurs once, a list for a repeated one. */
export type NamedValues = Record<string, string | string[] | undefined>;

/** The fields of a form or query string. */
export interface FormFields {
  /**
   * In the order sent, without a prototype. A name or value whose escapes are not text in the character set is
   * {@link UNDECODABLE}.
   */
  readonly values: NamedValues;
  readonly hasUndecodable: boolean;
}

/** Stands for a name or value that is not text: a lone surrogate, which no decoded text holds. */
export const UNDECODABLE = '\uD800';

/**
 * Parses `application/x-www-form-urlencoded`, each character standing for one byte. Returns undefined for more than 10,000
 * fields.
 */
export function parseFormFields(encoded: string, charset = 'utf-8'): FormFields | undefined {
  if (encoded.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) return undefined;
  let hasUndecodable = false;
  const decodeURIComponent = (part: string): string => {
    const text = decode(percentDecoded(part), charset);
    if (text === undefined) hasUndecodable = true;
    return text ?? UNDECODABLE;
  };
  const values = parse(encoded, '&', '=', { maxKeys: 0, decodeURIComponent });
  return { values, hasUndecodable };
}

const PERCENT = 0x25;

/** Decodes percent-encoding (RFC 3986, section 2.1); a percent sign that does not start an escape is kept. */
export function percentDecoded(part: string): Buffer {
  const bytes = Buffer.from(part, 'latin1');
  let length = 0;
  for (let i = 0; i < part.length; i++) {
    const value = bytes[i] === PERCENT ? 16 * hexDigit(bytes[i + 1]) + hexDigit(bytes[i + 2]) : NaN;
    if (Number.isNaN(value)) bytes[length++] = bytes[i] ?? 0;
    else {
      bytes[length++] = value;
      i += 2;
    }
  }
  return bytes.subarray(0, length);
}

/** The value of the hexadecimal digit with an ASCII code; NaN for any other character. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}
