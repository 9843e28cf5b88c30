import { MIMEType } from 'whatwg-mimetype';
import { memoized } from '../../util/text';

/** What a `Content-Type` header field says. */
export interface MediaType {
  /** Type and subtype in lower case. */
  readonly essence: string;
  /** The `charset` parameter in lower case. */
  readonly charset: string | undefined;
  /** The `action` parameter of SOAP 1.2 (RFC 3902). */
  readonly action: string | undefined;
  /** Whether it is one of XML's (RFC 7303). */
  readonly isXml: boolean;
}

const XML_TYPE = /^(?:text|application)\/xml$|\+xml$/;

/** Reads media types, and keeps what the ones that come again and again say. */
export class MediaTypes {
  readonly #parse = memoized(parse);

  /** Reads a `Content-Type` value (RFC 9110, section 8.3). Returns undefined if it is missing or not a media type. */
  parse(value: string | undefined): MediaType | undefined {
    return value === undefined ? undefined : this.#parse(value);
  }
}

function parse(value: string): MediaType | undefined {
  const parsed = MIMEType.parse(value);
  if (parsed === null) return undefined;
  return {
    essence: parsed.essence,
    charset: parsed.parameters.get('charset')?.toLowerCase(),
    action: parsed.parameters.get('action'),
    isXml: XML_TYPE.test(parsed.essence),
  };
}
