import type { IncomingHttpHeaders } from 'node:http';
import { Charset } from '../http/content/charset';
import { MediaType } from '../http/content/media-type';
import { JsonText } from '../events/cloudevents/json-text';
import type { Payload } from '../events/payload';
import { FormFields } from './form-fields';

const TEXT_TYPE =
  /^text\/|^application\/x-www-form-urlencoded$|^application\/(?:javascript|x-ndjson|yaml|toml|sql|graphql)$/;

export class HttpInput {
  constructor(
    readonly query: string,
    readonly headers: IncomingHttpHeaders,
    readonly mediaType: MediaType | undefined,
    readonly body: Buffer,
  ) {}

  /**
   * Reads the payload: the fields of a form, any other body by its content type or, without a body, the query string. A form
   * that is one JSON object or array is read as JSON: `curl -d` labels everything a form.
   */
  payload(): Payload | undefined {
    const { query, body } = this;
    if (body.length === 0) {
      if (query === '') return undefined;
      return { ...fieldsPayload(FormFields.parse(query), query.length, () => query), sentAs: 'query' };
    }
    if (this.mediaType?.isForm !== true) return this.bodyPayload();
    const json = this.jsonForm();
    if (json !== undefined) return { mediaType: 'application/json', ...json, sentAs: 'json' };
    const encoded = body.toString('latin1');
    return fieldsPayload(
      FormFields.parse(encoded, this.charset),
      encoded.length,
      () => Charset.utf8.decode(body) ?? encoded,
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

function fieldsPayload(fields: FormFields | undefined, length: number, text: () => string): Payload {
  const json = fields && !fields.hasUndecodable ? fields.json(length) : undefined;
  return json === undefined
    ? { mediaType: MediaType.form, text: text() }
    : { mediaType: 'application/json', json, value: fields && Object.fromEntries(fields.values) };
}

/** A brace or a bracket in any character set, perhaps after a mark and white space. */
const MAY_BEGIN_JSON = /^[\0\t-\r \xef\xbb\xbf\xfe\xff]*[[{]/;

function readJson(text: string) {
  const json = new JsonText(text);
  return json.hasTooManyParts() ? undefined : json.parsed();
}
