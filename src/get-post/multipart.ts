import { Charset, type MediaType } from '../http/content/media-type';
import { decoded } from '../http/request';
import type { Payload } from '../events/payload';
import { formPayload } from './http-input';

/** A form with more parts, or a part with a longer header, is not parsed. */
const MAX_PARTS = 1000;
const MAX_HEADER_BYTES = 1024;

/** RFC 2046, section 5.1.1 */
const BOUNDARY = /^[\x20-\x7e]{1,70}$/;

/** Says what is so by default: nothing is encoded (RFC 7578, section 4.7). */
const NOT_ENCODED = /^content-transfer-encoding:[ \t]*(?:7bit|8bit|binary)$/i;

/** The type of a part that a string can stand for. */
const PLAIN_TEXT = /^text\/plain(?:;[ \t]*charset=("?)([\w.:-]+)\1)?$/i;

interface FormPart {
  readonly name: string;
  /** Files have one, perhaps an empty one. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly content: Buffer;
}

/**
 * Reads a form with files as a JSON object: a string for each text, an object with `filename`, `contentType` and `base64` for each file
 * and for what a string does not say; a list for a repeated name. Undefined for a body that says more than the object can.
 */
export function multipartPayload(mediaType: MediaType | undefined, body: Buffer): Payload | undefined {
  if (!mediaType?.isMultipart || mediaType.boundary === undefined) return undefined;
  const parts = BOUNDARY.test(mediaType.boundary) ? partsOf(body, mediaType.boundary) : undefined;
  if (parts === undefined) return undefined;
  const values = new Map<string, unknown[]>();
  for (const part of parts) values.set(part.name, [...(values.get(part.name) ?? []), valueOf(part)]);
  return formPayload(values, 2 * body.length);
}

const LINE_END = Buffer.from('\r\n');
const HEADER_END = Buffer.from('\r\n\r\n');
const CLOSE = Buffer.from('--');

function partsOf(body: Buffer, boundary: string): FormPart[] | undefined {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const follows = (bytes: Buffer, at: number) => body.subarray(at, at + bytes.length).equals(bytes);
  const parts: FormPart[] = [];
  let at = delimiter.length - LINE_END.length;
  if (!follows(delimiter.subarray(LINE_END.length), 0)) return undefined;
  while (follows(LINE_END, at)) {
    const length = body.subarray(at, at + MAX_HEADER_BYTES).indexOf(HEADER_END);
    if (length === -1 || parts.length === MAX_PARTS) return undefined;
    const start = at + length + HEADER_END.length;
    // The line break of a delimiter may be that of the header, if a part is empty.
    const end = body.indexOf(delimiter, start - LINE_END.length);
    const content = body.subarray(start, Math.max(start, end));
    const part = partWith(body.toString('latin1', at + LINE_END.length, at + length), content);
    if (end === -1 || part === undefined) return undefined;
    parts.push(part);
    at = end + delimiter.length;
  }
  const isWhole = follows(CLOSE, at) && ['', '\r\n'].includes(body.toString('latin1', at + CLOSE.length));
  return isWhole && parts.length > 0 ? parts : undefined;
}

/** One parameter of a `Content-Disposition`, as browsers (HTML, section 4.10.21.8), curl, .NET and Java write it: nothing in it is escaped. */
const PARAMETER = /; *(name|filename\*?)=(?:"([^"]*)"|([^\s";]*)) *(?=;|$)/giy;

/** Undefined if the header says anything but one name, one file name and the type of the content, or is not understood. */
function partWith(header: string, content: Buffer): FormPart | undefined {
  const length = `content-length: ${String(content.length)}`;
  const lines = header.split('\r\n').filter((line) => !NOT_ENCODED.test(line) && line.toLowerCase() !== length);
  const [contentType] = lines.flatMap((line) => /^content-type:[ \t]*(.*)$/i.exec(line)?.[1] ?? []);
  const [disposition = ''] = lines.flatMap(
    (line) => /^content-disposition:[ \t]*form-data(;.*)$/i.exec(line)?.[1] ?? [],
  );
  const given = Charset.utf8.decode(Buffer.from(disposition, 'latin1'))?.trimEnd().replace(/;$/, '');
  if (lines.length !== (contentType === undefined ? 1 : 2) || given?.replace(PARAMETER, '') !== '') return undefined;
  const texts = new Map<string, string>();
  for (const [, parameter = '', quoted, token = ''] of given.matchAll(PARAMETER)) {
    const key = parameter.replace('*', '').toLowerCase();
    const text = textOf(quoted ?? token, parameter.endsWith('*'));
    if (text === undefined || (texts.get(key) ?? text) !== text) return undefined;
    texts.set(key, text);
  }
  const name = texts.get('name');
  return name === undefined ? undefined : { name, filename: texts.get('filename'), contentType, content };
}

/** The text of a parameter: in UTF-8 with escapes (RFC 8187), or else plain or, of .NET, an encoded word (RFC 2047). */
function textOf(given: string, isExtended: boolean): string | undefined {
  if (isExtended) {
    const [, escaped] = /^utf-8''(.*)$/i.exec(given) ?? [];
    const text = escaped && decoded(escaped);
    return text === escaped && text?.includes('%') ? undefined : text;
  }
  const [, word] = /^=\?utf-8\?B\?([A-Za-z\d+/]*=*)\?=$/i.exec(given) ?? [];
  return word === undefined ? given : Charset.utf8.decode(Buffer.from(word, 'base64'));
}

/** A string for a text, in the character set that its part names; else an object with the bytes. */
function valueOf({ filename, contentType, content }: FormPart): unknown {
  const [isText, , charset = 'utf-8'] = PLAIN_TEXT.exec(contentType ?? 'text/plain') ?? [];
  // A string does not have the byte order mark.
  const isString = filename === undefined && isText !== undefined && Charset.ofMark(content) === undefined;
  const text = isString ? Charset.named(charset.toLowerCase()).decode(content) : undefined;
  return text ?? { filename, contentType, base64: content.toString('base64') };
}
