import type { IncomingHttpHeaders } from 'node:http';
import { unescapeBuffer } from 'node:querystring';
import { Charset, MediaType } from '../http/content/media-type';
import { JsonText } from '../events/cloudevents/json-text';
import type { Payload } from '../events/payload';
import { LARGE_MESSAGE } from '../util/promises';

const TEXT_TYPE =
  /^text\/|^application\/x-www-form-urlencoded$|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

/** The query string and the body of a request, which hold a payload or parameters. */
export class HttpInput {
  constructor(
    readonly query: string,
    readonly headers: IncomingHttpHeaders,
    readonly mediaType: MediaType | undefined,
    readonly body: Buffer,
  ) {}

  /**
   * Reads the payload: the fields of a form, or its bytes if fields cannot say the same; any other body by its content type or, without
   * a body, the query string. A form that is one JSON object or array is read as JSON: `curl -d` labels everything a form.
   */
  payload(): Payload | undefined {
    const { query, body } = this;
    if (body.length === 0) {
      if (query === '') return undefined;
      return { ...(fieldsPayload(query) ?? { mediaType: MediaType.form, text: query }), sentAs: 'query' };
    }
    if (this.mediaType?.isForm !== true) return this.bodyPayload();
    const json = this.jsonForm();
    if (json !== undefined) return { mediaType: 'application/json', ...json, sentAs: 'json' };
    return (
      fieldsPayload(body.toString('latin1'), this.charset) ?? { mediaType: this.headers['content-type'], bytes: body }
    );
  }

  /** Reads the body by its content type. One that is not what that says is kept as text or, failing that, as bytes. */
  bodyPayload(): Payload {
    const mediaType = this.headers['content-type'];
    const text = this.text();
    if (text === undefined) return { mediaType, bytes: this.body };
    if (this.mediaType?.isJson !== true) return { mediaType, text };
    const json = readJson(text);
    return json === undefined ? { mediaType: 'text/plain', text } : { mediaType, ...json };
  }

  /** Decodes a body that is text by its content type or its bytes. Returns undefined for any other. */
  text(): string | undefined {
    return this.#isText() ? this.charset.decode(this.body) : undefined;
  }

  /** Returns the JSON object or array that a form consists of, if it does. */
  jsonForm() {
    if (!MAY_BEGIN_JSON.test(this.body.toString('latin1'))) return undefined;
    const text = this.charset.decode(this.body)?.trim();
    return text !== undefined && /^[[{]/.test(text) ? readJson(text) : undefined;
  }

  /** The character set that the content type names or, in XML before it (RFC 7303, section 3), the body announces, else UTF-8. */
  get charset(): Charset {
    const { body } = this;
    const { charset: given, isXml = false, isJson = false } = this.mediaType ?? {};
    const mark = Charset.ofMark(body);
    const named = (isXml || isJson) && given?.isDeniedBy(body) ? undefined : given;
    const candidates = isXml ? [mark, named, Charset.ofXml(body)] : [named, mark];
    return candidates.find((charset) => charset?.isKnown) ?? Charset.utf8;
  }

  #isText(): boolean {
    const { mediaType, body } = this;
    if (mediaType === undefined) return true;
    if (mediaType.isMultipart) return false;
    if (mediaType.charset !== undefined) return true;
    const { essence, isXml, isJson } = mediaType;
    if (isXml || isJson || TEXT_TYPE.test(essence)) return true;
    // Many such types are text: `application/jwt`, `application/csp-report`.
    return essence.startsWith('application/') && essence !== 'application/octet-stream' && Charset.isPlainText(body);
  }
}

/** Undefined if fields are not text, or would take too much as JSON. */
function fieldsPayload(encoded: string, charset?: Charset): Payload | undefined {
  const read = formFields(encoded, charset);
  if (read === undefined || read.hasUndecodable) return undefined;
  const maxLength = 2 * encoded.length + MAX_FIELDS * FIELD_LENGTH;
  return formPayload(read.values, encoded.length > LARGE_MESSAGE ? maxLength : Infinity);
}

/** Writes a form as a JSON object, with a list for a repeated name. Undefined if it takes more characters, since it is full of escapes. */
export function formPayload(values: ReadonlyMap<string, readonly unknown[]>, maxLength: number): Payload | undefined {
  const fields = [...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all] as const);
  const members = fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const json = `{${members.join(',')}}`;
  return json.length > maxLength
    ? undefined
    : { mediaType: 'application/json', json, value: Object.fromEntries(fields) };
}

/** A brace or a bracket in any character set, perhaps after a mark and white space. */
const MAY_BEGIN_JSON = /^[\0\t-\r \xef\xbb\xbf\xfe\xff]*[[{]/;

function readJson(text: string) {
  const json = new JsonText(text);
  return json.hasTooManyParts() ? undefined : json.parsed();
}

const MAX_FIELDS = 10_000;

/** Characters of JSON for a field besides its name and its value. */
const FIELD_LENGTH = 8;

/** Stands for a name or value that is not text: a lone surrogate, which no decoded text holds. */
const UNDECODABLE = '\uD800';

/** Text of a form that needs no decoding, in any character set that has ASCII. */
const PLAIN = /^[ -$&-*,-~]*$/;

/**
 * Reads the fields of a form or query string (`application/x-www-form-urlencoded`), each character standing for one byte, in the
 * order sent, with {@link UNDECODABLE} for what is not text in the character set. Undefined if there are more than 10,000.
 */
export function formFields(encoded: string, charset = Charset.utf8) {
  const fields = encoded.split('&', MAX_FIELDS + 1);
  if (fields.length > MAX_FIELDS) return undefined;
  const values = new Map<string, string[]>();
  const decoder = charset.decoder();
  let hasUndecodable = false;
  const decoded = (part: string): string => {
    // Decoders drop a byte order mark at the beginning, where a field may have U+FEFF: nothing begins after another byte.
    const text = PLAIN.test(part) ? part : decoder?.(unescapeBuffer(`.${part.replaceAll('+', ' ')}`))?.slice(1);
    if (text === undefined) hasUndecodable = true;
    return text ?? UNDECODABLE;
  };
  for (const field of fields) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    const name = decoded(equals === -1 ? field : field.slice(0, equals));
    const value = equals === -1 ? '' : decoded(field.slice(equals + 1));
    const others = values.get(name);
    if (others === undefined) values.set(name, [value]);
    else others.push(value);
  }
  return { values, hasUndecodable };
}
