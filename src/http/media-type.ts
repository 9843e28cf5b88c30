import { MIMEType } from 'whatwg-mimetype';

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

/** Senders repeat a few values all the time; others are not worth keeping. */
const REMEMBERED = 256;
const REMEMBERED_LENGTH = 200;
const remembered = new Map<string, MediaType | undefined>();

/** Reads a `Content-Type` value (RFC 9110, section 8.3). Undefined: there is none, or it is no media type. */
export function parseMediaType(value: string | undefined): MediaType | undefined {
  if (value === undefined) return undefined;
  if (remembered.has(value)) return remembered.get(value);
  const parsed = MIMEType.parse(value);
  const mediaType = parsed && {
    essence: parsed.essence,
    charset: parsed.parameters.get('charset')?.toLowerCase(),
    action: parsed.parameters.get('action'),
    isXml: XML_TYPE.test(parsed.essence),
  };
  if (remembered.size < REMEMBERED && value.length <= REMEMBERED_LENGTH) remembered.set(value, mediaType ?? undefined);
  return mediaType ?? undefined;
}
