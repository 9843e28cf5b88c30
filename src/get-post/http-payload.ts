import type { IncomingHttpHeaders } from 'node:http';
import { unescapeBuffer } from 'node:querystring';
import { Charset, isPlainText } from '../http/content/charset';
import { MediaType } from '../http/content/media-type';
import { JsonText } from '../events/cloudevents/json-text';
import { slicesOf, type Payload } from '../events/payload';
import type { SignedBy } from '../senders/sender';
import { atOnce, LARGE_MESSAGE, type Steps } from '../util/promises';

const TEXT_TYPE =
  /^text\/|^application\/x-www-form-urlencoded$|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

/** The request of a call over HTTP GET or POST. */
export interface HttpInput {
  /** The query string, without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed `Content-Type`, if it is valid. */
  readonly mediaType: MediaType | undefined;
  readonly body: Buffer;
  /** The sender whose signature of the body was verified. Header fields are never signed. */
  readonly signedBy?: SignedBy | undefined;
}

/**
 * Reads the payload: the fields of a form, any other body by its content type or, without a body, the query string. A form
 * that is one JSON object or array is read as JSON: `curl -d` labels everything a form.
 */
export function* httpPayload(input: HttpInput): Steps<Payload | undefined> {
  const { query, mediaType, body } = input;
  if (body.length === 0)
    return query === '' ? undefined : yield* fieldsPayload(yield* formFields(query), query.length, () => query);
  if (mediaType?.isForm !== true) return yield* bodyPayload(input);
  const json = yield* jsonForm(mediaType, body);
  if (json !== undefined) return { mediaType: 'application/json', ...json };
  yield;
  const encoded = body.toString('latin1');
  const fields = yield* formFields(encoded, bodyCharset(mediaType, body));
  yield;
  return yield* fieldsPayload(fields, encoded.length, () => Charset.utf8.decode(body) ?? encoded);
}

/**
 * Reads a body by its content type. A body that is not what its content type says is kept as text or, failing that, as
 * bytes: a sender's mistake never loses an event.
 */
export function* bodyPayload({ headers, mediaType, body }: Omit<HttpInput, 'query'>): Steps<Payload> {
  const contentType = headers['content-type'];
  const text = yield* bodyText(mediaType, body);
  yield;
  if (text === undefined) return { mediaType: contentType, bytes: body };
  if (mediaType?.isJson !== true) return { mediaType: contentType, text };
  const json = yield* readJson(text);
  return json === undefined ? { mediaType: 'text/plain', text } : { mediaType: contentType, ...json };
}

/** Decodes a body that is text by its content type, or by its bytes. Returns undefined for another, or if it cannot be decoded. */
export function* bodyText(mediaType: MediaType | undefined, body: Buffer): Steps<string | undefined> {
  return (yield* isText(mediaType, body)) ? yield* bodyCharset(mediaType, body).decodeSteps(body) : undefined;
}

function* fieldsPayload(fields: FormFields | undefined, length: number, text: () => string): Steps<Payload> {
  const json = fields && !fields.hasUndecodable ? yield* fieldsJson(fields.values, length) : undefined;
  return json === undefined
    ? { mediaType: MediaType.form, text: text() }
    : { mediaType: 'application/json', json, value: fields?.values };
}

/** Writes fields as a JSON object. Undefined if that would be more than twice as long as the form: full of escapes. */
function* fieldsJson(values: NamedValues, length: number): Steps<string | undefined> {
  if (length <= LARGE_MESSAGE) return JSON.stringify(values);
  const maxLength = 2 * length + MAX_FIELDS * FIELD_LENGTH;
  const pieces: string[] = [];
  let written = 0;
  for (const piece of jsonPieces(values)) {
    pieces.push(piece);
    written += piece.length;
    if (written > maxLength) return undefined;
    yield;
  }
  return pieces.join('');
}

/** Characters of JSON for a field besides its name and its value: quotes, a colon, a comma, brackets. */
const FIELD_LENGTH = 8;

function* jsonPieces(values: NamedValues): Generator<string> {
  let before = '{';
  for (const [name, value = ''] of Object.entries(values)) {
    yield before;
    before = ',';
    yield* stringPieces(name);
    if (typeof value === 'string') {
      yield ':';
      yield* stringPieces(value);
    } else {
      for (const [i, text] of value.entries()) {
        yield i === 0 ? ':[' : ',';
        yield* stringPieces(text);
      }
      yield ']';
    }
  }
  yield before === '{' ? '{}' : '}';
}

/** Writes a text as JSON does. */
export function* stringPieces(text: string): Generator<string> {
  yield '"';
  for (const slice of slicesOf(text)) yield JSON.stringify(slice).slice(1, -1);
  yield '"';
}

/** Returns the JSON object or array that a form consists of, if it does. */
export function* jsonForm(mediaType: MediaType, body: Buffer) {
  if (!mayBeginJson(body)) return undefined;
  const text = (yield* bodyCharset(mediaType, body).decodeSteps(body))?.trim();
  yield;
  return text !== undefined && /^[[{]/.test(text) ? yield* readJson(text) : undefined;
}

/** Whether a body begins with a brace or a bracket in any character set, perhaps after a mark and white space. */
function mayBeginJson(body: Buffer): boolean {
  let at = 0;
  while (BEFORE_JSON.has(body[at])) at++;
  return body[at] === 0x7b || body[at] === 0x5b;
}

/** The bytes of white space, of byte order marks, and the zero byte of a character in UTF-16. */
const BEFORE_JSON: ReadonlySet<number | undefined> = new Set(
  Buffer.from('\0\t\n\v\f\r \xef\xbb\xbf\xfe\xff', 'latin1'),
);

function* isText(mediaType: MediaType | undefined, body: Buffer): Steps<boolean> {
  if (mediaType === undefined || mediaType.charset !== undefined) return true;
  const { essence, isXml, isJson } = mediaType;
  if (isXml || isJson || TEXT_TYPE.test(essence)) return true;
  // Many such types are text: `application/jwt`, `application/csp-report`.
  return essence.startsWith('application/') && essence !== 'application/octet-stream' && (yield* isPlainText(body));
}

/**
 * The character set: the one that the content type names, else the one that the body announces itself, else UTF-8. In XML a
 * byte order mark comes first (RFC 7303, section 3).
 */
export function bodyCharset(mediaType: MediaType | undefined, body: Buffer): Charset {
  const { charset: given, isXml = false, isJson = false } = mediaType ?? {};
  const mark = Charset.ofMark(body);
  const named = (isXml || isJson) && given?.isDeniedBy(body) ? undefined : given;
  const candidates = isXml ? [mark, named, Charset.ofXml(body)] : [named, mark];
  return candidates.find((charset) => charset?.isKnown) ?? Charset.utf8;
}

function* readJson(text: string) {
  const json = new JsonText(text);
  if (json.hasTooManyParts()) return undefined;
  yield;
  return yield* json.parsed();
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

/** How many characters are decoded at a time, and how many fields are read. */
const PART_LENGTH = 16 * 1024;
const FIELDS_AT_ONCE = 64;

/** Text of a form that needs no decoding, in any character set that has ASCII. */
const PLAIN = /^[ -$&-*,-~]*$/;

/**
 * Parses `application/x-www-form-urlencoded`, each character standing for one byte. Returns undefined for more than 10,000
 * fields.
 */
export function* formFields(encoded: string, charset = Charset.utf8): Steps<FormFields | undefined> {
  const fields = encoded.split('&', MAX_FIELDS + 1);
  if (fields.length > MAX_FIELDS) return undefined;
  const values = Object.create(null) as NamedValues;
  const decoder = charset.decoder();
  let hasUndecodable = false;
  const known = (text: string | undefined): string => {
    if (text === undefined) hasUndecodable = true;
    return text ?? UNDECODABLE;
  };
  const decoded = (part: string): string => (PLAIN.test(part) ? part : known(decoder?.(unescapedPart(part))));
  function* decodedInSteps(part: string): Steps<string> {
    const bytes = yield* unescaped(part);
    yield;
    return known(yield* charset.decodeSteps(bytes));
  }
  for (const [i, field] of fields.entries()) {
    if (i % FIELDS_AT_ONCE === FIELDS_AT_ONCE - 1) yield;
    if (field === '') continue;
    const equals = field.indexOf('=');
    const isLong = field.length > PART_LENGTH;
    const [encodedName, encodedValue] = equals === -1 ? [field, ''] : [field.slice(0, equals), field.slice(equals + 1)];
    const name = isLong ? yield* decodedInSteps(encodedName) : decoded(encodedName);
    const value = isLong ? yield* decodedInSteps(encodedValue) : decoded(encodedValue);
    const others = values[name];
    if (others === undefined) values[name] = value;
    else if (typeof others === 'string') values[name] = [others, value];
    else others.push(value);
  }
  return { values, hasUndecodable };
}

function unescapedPart(text: string): Buffer {
  return unescapeBuffer(text.replaceAll('+', ' '));
}

/** Undoes the encoding of a name or value. */
function* unescaped(text: string): Steps<Buffer> {
  const parts: Buffer[] = [];
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + PART_LENGTH;
    // An escape stays whole.
    const percent = text.slice(end - 2, end).indexOf('%');
    if (percent !== -1) end += percent - 2;
    parts.push(unescapedPart(text.slice(start, end)));
    yield;
  }
  return Buffer.concat(parts);
}

/** Parses a form or query string in one go, as {@link formFields} does. */
export function parseFormFields(encoded: string, charset?: Charset): FormFields | undefined {
  return atOnce(formFields(encoded, charset));
}
