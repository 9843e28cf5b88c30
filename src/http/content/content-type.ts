import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { MIMEType } from 'whatwg-mimetype';
import type { Steps } from '../../util/promises';

/** The media type and parameters of a `Content-Type` header field. */
export interface MediaType {
  /** Type and subtype in lower case. */
  readonly essence: string;
  /** The `charset` parameter in lower case. */
  readonly charset: string | undefined;
  /** The `action` parameter of SOAP 1.2 (RFC 3902). */
  readonly action: string | undefined;
  /** The `boundary` parameter of a form with files (RFC 7578). */
  readonly boundary: string | undefined;
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
    boundary: parsed.parameters.get('boundary'),
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

const LESS = 0x3c;
const QUESTION = 0x3f;

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
  const [first, second] = body;
  if (first === LESS && second !== QUESTION && second !== 0) return undefined;
  const beginning = body.toString('latin1', 0, MAX_DECLARATION);
  const byZeros = XML_BEGINNINGS.find(([pattern]) => pattern.test(beginning))?.[1];
  if (byZeros !== undefined) return byZeros;
  const declared = DECLARED_ENCODING.exec(beginning)?.[1]?.toLowerCase();
  return declared === undefined || isDenied(declared, body) ? undefined : declared;
}

/**
 * Whether the beginning of an XML document or a JSON text shows that it is not in this character set: UTF-16 would have a zero
 * byte beside its first character, which is ASCII. Programs that hold texts in UTF-16 name it and send UTF-8.
 */
export function isDenied(charset: string, [first = 0, second = 0]: Buffer): boolean {
  if (first === 0 || first >= 0x80 || second === 0 || charset === 'utf-8') return false;
  return textDecoder(labelOf(charset), false)?.encoding.startsWith('utf-16') === true;
}

/** How many bytes are decoded at a time. */
const PART_LENGTH = 16 * 1024;

/** Names that are no labels of the Encoding standard. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['csutf8', 'utf-8'],
  ['cp65001', 'utf-8'],
]);

/** Labels that the Encoding standard takes for Windows-1252. */
const ISO_8859_1 = /^(?:iso-8859-1(?!\d)|csisolatin1|iso-ir-100|latin1$|l1$|cp819|ibm819)/;
const ASCII = /^(?:us-)?ascii$|^ansi_x3/;

/**
 * A label of the Encoding standard. Some senders put it in single quotes, which are not quotes to HTTP, and some write another
 * hyphen, or none, before a number (`utf16`, `utf_8`, `windows1252`, `iso8859_15`, `latin-1`).
 */
function labelOf(charset: string): string {
  if (charset === 'utf-8') return charset;
  const name = charset.toLowerCase().replace(/['"]/g, '');
  return (
    OTHER_NAMES.get(name) ??
    name
      .replace(/^(utf|ucs|windows)[-_]?(?=\d)/, '$1-')
      .replace(/^iso[-_]?8859[-_]?(\d+)(?::\d+)?/, 'iso-8859-$1')
      .replace(/^latin-(?=\d)/, 'latin')
  );
}

/** Decodes bytes. `isPart`: more come. Returns undefined if they are not valid. */
export type Decoder = (bytes: Buffer, isPart?: boolean) => string | undefined;

/** Returns the decoder of a character set, by any label of the Encoding standard; undefined for one that is not known. */
export function decoderOf(charset: string): Decoder | undefined {
  const label = labelOf(charset);
  if (label === 'utf-8') return decodeUtf8;
  if (ASCII.test(label)) return (bytes) => (isAscii(bytes) ? bytes.toString('latin1') : undefined);
  if (ISO_8859_1.test(label)) return (bytes) => bytes.toString('latin1');
  const decoder = textDecoder(label, true);
  if (decoder?.encoding === 'utf-8') return decodeUtf8;
  if (decoder?.encoding === 'windows-1252') return decodeWindows1252;
  return (
    decoder &&
    ((bytes, isPart = false) => {
      try {
        return decoder.decode(bytes, { stream: isPart });
      } catch {
        return undefined;
      }
    })
  );
}

/** The characters of Windows-1252 from 0x80 on that ISO 8859-1 does not have. */
const FROM_80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** `TextDecoder` takes it for ISO 8859-1 in some versions of Node (https://github.com/nodejs/node/issues/56542). */
function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));
}

function textDecoder(label: string, fatal: boolean): TextDecoder | undefined {
  try {
    return new TextDecoder(label, { fatal });
  } catch {
    return undefined;
  }
}

/** Whether {@link decode} knows a character set by this name. */
export function isKnownCharset(charset: string): boolean {
  return charset === 'utf-8' || decoderOf(charset) !== undefined;
}

/** Decodes bytes, without their byte order mark. Returns undefined if they are not valid in this character set. */
export function decode(body: Buffer, charset: string): string | undefined {
  return decoderFor(body, charset)?.(body);
}

function decoderFor(body: Buffer, charset: string): Decoder | undefined {
  if (charset === 'utf-8') return decodeUtf8;
  return decoderOf(labelOf(charset) === 'utf-16' ? utf16Of(body) : charset);
}

/** Decodes bytes as {@link decode} does, in steps. */
export function* decodeSteps(body: Buffer, charset: string): Steps<string | undefined> {
  const decoder = decoderFor(body, charset);
  if (decoder === undefined || decoder === decodeUtf8 || body.length <= PART_LENGTH) return decoder?.(body);
  const parts: string[] = [];
  for (let start = 0; start < body.length; start += PART_LENGTH) {
    const end = start + PART_LENGTH;
    const part = decoder(body.subarray(start, end), end < body.length);
    if (part === undefined) return undefined;
    parts.push(part);
    yield;
  }
  return parts.join('');
}

/** The byte order of UTF-16 (RFC 2781, section 4.3): little where the body has no mark, as in Windows. */
function utf16Of(body: Buffer): string {
  return charsetOfMark(body) ?? 'utf-16le';
}

/**
 * Decodes bytes that are not valid in their character set: UTF-16 with U+FFFD for what is wrong, all else as UTF-8 if it is that,
 * or as Windows-1252, in which any bytes are a text.
 */
export function* decodeAnyway(body: Buffer, charset: string): Steps<string> {
  const decoder = textDecoder(labelOf(charset), false);
  if (decoder?.encoding.startsWith('utf-16') === true) return decoder.decode(body);
  return decodeUtf8(body) ?? (yield* decodeSteps(body, 'windows-1252')) ?? '';
}

/** Control characters, except white space, in UTF-8 that is read as Latin-1. */
const NOT_IN_TEXT = /(?![\t\n\v\f\r])[^ -~\x80-\xff]|\xc2[\x80-\x9f]/;

/** Whether bytes are UTF-8 without control characters other than white space: text, whatever their type is. */
export function* isPlainText(body: Buffer): Steps<boolean> {
  if (!isUtf8(body)) return false;
  for (let start = 0; start < body.length; start += PART_LENGTH) {
    // With the first byte of the next part, which may be the second of a character.
    if (NOT_IN_TEXT.test(body.toString('latin1', start, start + PART_LENGTH + 1))) return false;
    yield;
  }
  return true;
}

function decodeUtf8(body: Buffer): string | undefined {
  return isUtf8(body) ? body.toString('utf8', charsetOfMark(body) === 'utf-8' ? 3 : 0) : undefined;
}
