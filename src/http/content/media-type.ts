import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import type * as Encodings from '@exodus/bytes/encoding.js';
import { MIMEType } from 'whatwg-mimetype';

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

const DECLARED_ENCODING = /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/;

/** The standard reads US-ASCII as Windows-1252; senders that name it send UTF-8. */
const UTF_8_LABEL = /^(?:utf-?8|us-ascii)$/;

const load = createRequire(__filename);

/** Returns the standard's decoders, since the tables of Node's own differ. It takes 15 ms when a character set other than UTF-8 is first named. */
function encodings(): typeof Encodings {
  return load('@exodus/bytes/encoding.js') as typeof Encodings;
}

/** The name of the encoding with this label of the Encoding standard; undefined if there is none. */
function encodingWith(label: string): string | undefined {
  if (UTF_8_LABEL.test(label)) return 'utf-8';
  try {
    return new (encodings().TextDecoder)(label).encoding;
  } catch {
    return undefined;
  }
}

type Decoder = (bytes: Buffer) => string | undefined;

/** A character set, by any label of the Encoding standard or by a name that is not known. */
export class Charset {
  static readonly utf8 = new this('utf-8', 'utf-8');
  static readonly #utf16le = new this('utf-16le', 'utf-16le');
  static readonly #utf16be = new this('utf-16be', 'utf-16be');
  static readonly #marks: readonly (readonly [mark: Buffer, charset: Charset])[] = [
    [Buffer.from([0xef, 0xbb, 0xbf]), this.utf8],
    [Buffer.from([0xff, 0xfe]), this.#utf16le],
    [Buffer.from([0xfe, 0xff]), this.#utf16be],
  ];

  readonly isKnown: boolean;
  readonly #isUtf16: boolean;

  private constructor(
    readonly name: string,
    private readonly encoding: string | undefined,
  ) {
    this.isKnown = encoding !== undefined;
    this.#isUtf16 = encoding?.startsWith('utf-16') === true;
  }

  static named(name: string): Charset {
    return name === 'utf-8' ? Charset.utf8 : new Charset(name, encodingWith(name));
  }

  /** Returns the character set of the byte order mark at the start of a body, if it has one. */
  static ofMark(body: Buffer): Charset | undefined {
    const first = body[0] ?? 0;
    if (first < 0xef) return undefined;
    return Charset.#marks.find(([mark]) => body.subarray(0, mark.length).equals(mark))?.[1];
  }

  /**
   * Returns the character set of an XML document: that of its byte order mark, the given one, or the one which the document
   * announces by the zero bytes of UTF-16 or by its XML declaration, whichever comes first in this list, or else UTF-8 (RFC 7303,
   * section 3; XML 1.0, appendix F).
   */
  static ofXml(body: Buffer, given?: Charset): Charset {
    const named = Charset.ofMark(body) ?? given;
    if (named !== undefined) return named;
    const [first, second] = body;
    // A tag, not a declaration.
    if (first === 0x3c && second !== 0x3f && second !== 0) return Charset.utf8;
    if (first !== 0 && second === 0) return Charset.#utf16le;
    if (first === 0 && second !== 0) return Charset.#utf16be;
    const beginning = body.toString('latin1', 0, 200);
    const declared = Charset.named(DECLARED_ENCODING.exec(beginning)?.[1]?.toLowerCase() ?? 'utf-8');
    return declared.isDeniedBy(body) ? Charset.utf8 : declared;
  }

  /** Whether bytes are UTF-8 without control characters other than white space: text, whatever their type is. */
  static isPlainText(body: Buffer): boolean {
    return isUtf8(body) && !NOT_IN_TEXT.test(body.toString('latin1'));
  }

  /**
   * Whether the beginning of an XML document or a JSON text shows that it is not UTF-16: a zero byte would stand beside its first
   * character, which is ASCII. Programs that hold texts in UTF-16 name it and send UTF-8.
   */
  isDeniedBy(body: Buffer): boolean {
    if (!this.#isUtf16) return false;
    const [first = 0, second = 0] = body;
    return first !== 0 && first < 0x80 && second !== 0;
  }

  /** Decodes bytes, without their byte order mark. Returns undefined if they are not valid in this character set. */
  decode(body: Buffer): string | undefined {
    return this.#inOrderOf(body).decoder()?.(body);
  }

  /** Decodes invalid bytes: UTF-16 with U+FFFD, all else as UTF-8 or as Windows-1252, in which any bytes are a text. */
  decodeAnyway(body: Buffer): string {
    const text = this.#isUtf16 ? undefined : decodeUtf8(body);
    return text ?? new (encodings().TextDecoder)(this.#isUtf16 ? this.encoding : 'windows-1252').decode(body);
  }

  /** Returns a function that decodes one text after another; undefined if the character set is not known. */
  decoder(): Decoder | undefined {
    if (this.encoding === undefined) return undefined;
    if (this.encoding === 'utf-8') return decodeUtf8;
    const decoder = new (encodings().TextDecoder)(this.encoding, { fatal: true });
    return (bytes) => {
      try {
        return decoder.decode(bytes);
      } catch {
        return undefined;
      }
    };
  }

  /** UTF-16 in the byte order of a body (RFC 2781, section 4.3): without a mark big if its first byte is zero, else little. */
  #inOrderOf(body: Buffer): Charset {
    if (this.name !== 'utf-16') return this;
    return Charset.ofMark(body) ?? (body[0] === 0 ? Charset.#utf16be : Charset.#utf16le);
  }
}

function decodeUtf8(body: Buffer): string | undefined {
  return isUtf8(body) ? body.toString('utf8', Charset.ofMark(body) === Charset.utf8 ? 3 : 0) : undefined;
}

/** Control characters, except white space, in UTF-8 that is read as Latin-1. */
const NOT_IN_TEXT = /(?![\t\n\v\f\r])[^ -~\x80-\xff]|\xc2[\x80-\x9f]/;
