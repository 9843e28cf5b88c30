import { isUtf8 } from 'node:buffer';
import * as iconv from 'iconv-lite';
import { MIMEType } from 'whatwg-mimetype';

/** What a `Content-Type` header field says. */
export interface MediaType {
  /** Type and subtype in lower case. */
  readonly essence: string;
  /** The `charset` parameter in lower case. */
  readonly charset: string | undefined;
  /** The `action` parameter of SOAP 1.2 (RFC 3902). */
  readonly action: string | undefined;
  /** Whether it is an XML media type (RFC 7303). */
  readonly isXml: boolean;
}

const XML_TYPE = /^(?:text|application)\/xml$|\+xml$/;

/** Reads a `Content-Type` value (RFC 9110, section 8.3), in 2 µs. Returns undefined if it is missing or not a media type. */
export function parseMediaType(value: string | undefined): MediaType | undefined {
  if (value === undefined) return undefined;
  const parsed = MIMEType.parse(value);
  if (parsed === null) return undefined;
  return {
    essence: parsed.essence,
    charset: parsed.parameters.get('charset')?.toLowerCase(),
    action: parsed.parameters.get('action'),
    isXml: XML_TYPE.test(parsed.essence),
  };
}

const BYTE_ORDER_MARKS: readonly (readonly [mark: Buffer, charset: string])[] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'utf-8'],
  // Before UTF-16, since the mark of UTF-16 begins it.
  [Buffer.from([0xff, 0xfe, 0, 0]), 'utf-32le'],
  [Buffer.from([0, 0, 0xfe, 0xff]), 'utf-32be'],
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
];

/** Names the character set of the byte order mark at the start of a body, if it has one. */
export function charsetOfMark(body: Buffer): string | undefined {
  const first = body[0] ?? 0;
  if (first !== 0 && first < 0xef) return undefined;
  return BYTE_ORDER_MARKS.find(([mark]) => body.subarray(0, mark.length).equals(mark))?.[1];
}

/** How an XML document without a mark begins, in white space or a tag, by the size and order of its code units. */
const XML_BEGINNINGS: readonly (readonly [beginning: RegExp, charset: string])[] = [
  [/^[<\t\r\n ]\0\0\0/, 'utf-32le'],
  [/^\0\0\0[<\t\r\n ]/, 'utf-32be'],
  [/^[<\t\r\n ]\0/, 'utf-16le'],
  [/^\0[<\t\r\n ]/, 'utf-16be'],
];

const DECLARED_ENCODING = /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/;

/** No XML declaration that is read is longer, in bytes. */
const MAX_DECLARATION = 200;

/**
 * Names the character set that an XML document announces itself: by a byte order mark, by the zero bytes of UTF-16 or
 * UTF-32, or by its XML declaration (XML 1.0, appendix F). Without any of these it has to be UTF-8, and the result is undefined.
 */
export function charsetOfXml(body: Buffer): string | undefined {
  const mark = charsetOfMark(body);
  if (mark !== undefined) return mark;
  const beginning = body.toString('latin1', 0, MAX_DECLARATION);
  const byZeros = XML_BEGINNINGS.find(([pattern]) => pattern.test(beginning))?.[1];
  if (byZeros !== undefined) return byZeros;
  const declared = DECLARED_ENCODING.exec(beginning)?.[1]?.toLowerCase();
  return declared === undefined || isDenied(declared, body) ? undefined : declared;
}

/**
 * Whether the beginning of an XML document or a JSON text shows that it is not in this character set: UTF-16 and UTF-32 would have
 * a zero byte beside its first character, which is ASCII. Programs that hold texts in UTF-16 name it and send UTF-8.
 */
export function isDenied(charset: string, [first = 0, second = 0]: Buffer): boolean {
  return first !== 0 && first < 0x80 && second !== 0 && isWide(plainName(charset));
}

/** Whether a character of this character set takes at least two bytes, by its {@link plainName}. */
function isWide(name: string): boolean {
  return /^(?:utf|ucs)(?:16|2|32|4)/.test(name);
}

/** What the library does not have, and Node does. */
const ISO_2022_JP = 'iso2022jp';

/** Encodings of the library that are not character sets. */
const NOT_CHARSETS = new Set(['base64', 'hex']);

/** Whether {@link decode} knows a character set by this name; case, punctuation and quotes do not matter. */
export function isKnownCharset(charset: string): boolean {
  if (charset === 'utf-8') return true;
  const name = plainName(charset);
  if (name === 'utf8' || name === ISO_2022_JP) return true;
  return iconv.encodingExists(name) && !NOT_CHARSETS.has(name);
}

/** Decodes bytes, without their byte order mark. Returns undefined if they are not valid in this character set. */
export function decode(body: Buffer, charset: string): string | undefined {
  if (charset === 'utf-8') return decodeUtf8(body);
  const name = plainName(charset);
  if (name === 'utf8') return decodeUtf8(body);
  if (name === ISO_2022_JP) return decodeIso2022Jp(body);
  const unit = UNICODE_UNITS.get(/^(?:utf|ucs)(\d+)/.exec(name)?.[1] ?? '') ?? 1;
  if (body.length % unit !== 0) return undefined;
  const text = iconv.decode(body, name);
  if (!text.isWellFormed()) return undefined;
  // The decoder writes U+FFFD for invalid bytes, except in UTF-16. It can also be a character of the text.
  if (unit === 2 || !text.includes('\uFFFD')) return text;
  return isEncoded(text, body, name) ? text : undefined;
}

function decodeIso2022Jp(body: Buffer): string | undefined {
  try {
    return new TextDecoder('iso-2022-jp', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/**
 * Decodes bytes that are not valid in their character set: UTF-16 and UTF-32 with U+FFFD for what is wrong, all else as UTF-8 if it
 * is that, or as Windows-1252, in which any bytes are a text.
 */
export function decodeAnyway(body: Buffer, charset: string): string {
  const name = plainName(charset);
  if (isWide(name) && iconv.encodingExists(name)) return iconv.decode(body, name).toWellFormed();
  return decodeUtf8(body) ?? new TextDecoder('windows-1252').decode(body);
}

const NOT_IN_TEXT = /(?![\t\n\v\f\r])\p{Cc}/u;

/** Whether bytes are UTF-8 without control characters other than white space: text, whatever their type is. */
export function isPlainText(body: Buffer): boolean {
  return isUtf8(body) && !NOT_IN_TEXT.test(body.toString());
}

function decodeUtf8(body: Buffer): string | undefined {
  return isUtf8(body) ? body.toString('utf8', charsetOfMark(body) === 'utf-8' ? 3 : 0) : undefined;
}

/** Bytes of a code unit, by the number in the name of a Unicode encoding. */
const UNICODE_UNITS: ReadonlyMap<string, number> = new Map([
  ['16', 2],
  ['2', 2],
  ['32', 4],
  ['4', 4],
]);

/** Names of .NET, and further ones of UTF-8, for character sets that the library knows by another one. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['unicode11utf8', 'utf8'],
  ['csutf8', 'utf8'],
  ['unicode', 'utf16le'],
  ['unicodefffe', 'utf16be'],
  ['iso10646ucs2', 'utf16le'],
  ['cp65001', 'utf8'],
]);

/** A name as the library compares it. Some senders put it in single quotes, which are not quotes to HTTP. */
function plainName(charset: string): string {
  const name = charset.toLowerCase().replace(/[^0-9a-z]/g, '');
  return OTHER_NAMES.get(name) ?? name;
}

/** Whether bytes are this text, perhaps after a byte order mark. */
function isEncoded(text: string, body: Buffer, name: string): boolean {
  const names = name === 'utf32' || name === 'ucs4' ? ['utf32le', 'utf32be'] : [name];
  return names.some((each) => {
    const encoded = iconv.encode(text, each);
    const markLength = body.length - encoded.length;
    return markLength >= 0 && markLength <= 4 && encoded.equals(body.subarray(markLength));
  });
}
