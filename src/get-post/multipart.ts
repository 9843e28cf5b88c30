import { Charset, type MediaType } from '../http/content/media-type';
import { decoded } from '../http/request';
import type { Payload } from '../events/payload';

/** A form with more parts is not parsed, nor one with a longer header of a part, in bytes. */
const MAX_PARTS = 1000;
const MAX_HEADER = 1024;

/** RFC 2046, section 5.1.1 */
const BOUNDARY = /^[\x20-\x7e]{1,70}$/;

/** Parts that say so are read as they came: no other encodings are in use (RFC 7578, section 4.7). */
const AS_IT_IS = /^(?:7bit|8bit|binary)$/i;

interface FormPart {
  readonly name: string;
  /** Files have one, perhaps an empty one. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly content: Buffer;
}

/**
 * Reads a form with files as a JSON object: a string for each text, an object with `filename`, `contentType` and `base64` for each file
 * and for what cannot be decoded; a list for a repeated name. Undefined for a body that cannot be read in full: nothing may be lost.
 */
export function multipartPayload(mediaType: MediaType | undefined, body: Buffer): Payload | undefined {
  if (!mediaType?.isMultipart || mediaType.boundary === undefined) return undefined;
  const parts = BOUNDARY.test(mediaType.boundary) ? partsOf(body, mediaType.boundary) : undefined;
  const json = parts && formJson(parts, body.length);
  return json === undefined ? undefined : { mediaType: 'application/json', json };
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
    const length = body.subarray(at, at + MAX_HEADER).indexOf(HEADER_END);
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
const PARAMETER = /; *([\w-]+\*?)=(?:"([^"]*)"|([^\s";]*)) *(?=;|$)/gy;

/** Undefined if anything in the header is not understood. */
function partWith(header: string, content: Buffer): FormPart | undefined {
  const fields = new Map<string, string>();
  for (const line of header.split('\r\n')) {
    const [, name = '', value = ''] = /^([\w-]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name === '' || fields.has(name.toLowerCase())) return undefined;
    fields.set(name.toLowerCase(), value);
  }
  if (!AS_IT_IS.test(fields.get('content-transfer-encoding') ?? 'binary')) return undefined;
  const disposition = Charset.utf8.decode(Buffer.from(fields.get('content-disposition') ?? '', 'latin1'));
  if (disposition === undefined || !/^form-data(?=;)/i.test(disposition)) return undefined;
  const given = disposition.slice('form-data'.length).trimEnd().replace(/;$/, '');
  const parameters = new Map(
    [...given.matchAll(PARAMETER)].map(([, name = '', quoted, token = '']) => [name.toLowerCase(), quoted ?? token]),
  );
  const isUnderstood =
    given.replace(PARAMETER, '') === '' && [...parameters.keys()].every((name) => PARAMETERS.has(name));
  const name = textOf(parameters, 'name');
  const filename = textOf(parameters, 'filename');
  if (!isUnderstood || name === undefined || (filename === undefined && FILE_NAMES.some((one) => parameters.has(one))))
    return undefined;
  return { name, filename, contentType: fields.get('content-type'), content };
}

const FILE_NAMES = ['filename', 'filename*'];
const PARAMETERS: ReadonlySet<string> = new Set(['name', ...FILE_NAMES]);

/** The text of a parameter: in UTF-8 with escapes (RFC 8187), or else plain or, of .NET, an encoded word (RFC 2047). */
function textOf(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  const extended = parameters.get(`${name}*`);
  if (extended !== undefined) {
    const [, escaped] = /^utf-8'[\w-]*'(.*)$/i.exec(extended) ?? [];
    const text = escaped && decoded(escaped);
    return text === escaped && text?.includes('%') ? undefined : text;
  }
  const text = parameters.get(name);
  const [, word] = /^=\?utf-8\?B\?([A-Za-z\d+/]*=*)\?=$/i.exec(text ?? '') ?? [];
  return word === undefined ? text : Charset.utf8.decode(Buffer.from(word, 'base64'));
}

/** Undefined if the JSON is more than twice as long as the form: full of escapes. */
function formJson(parts: readonly FormPart[], length: number): string | undefined {
  const values = new Map<string, string[]>();
  for (const part of parts) values.set(part.name, [...(values.get(part.name) ?? []), partJson(part)]);
  const members = [...values].map(
    ([name, [first = '', ...others]]) =>
      `${JSON.stringify(name)}:${others.length === 0 ? first : `[${[first, ...others].join(',')}]`}`,
  );
  const json = `{${members.join(',')}}`;
  return json.length > 2 * length ? undefined : json;
}

/** A text for a part without a file name, in the character set that it names; a file, or what cannot be decoded, as an object. */
function partJson({ filename, contentType, content }: FormPart): string {
  const [, label = 'utf-8'] = /; *charset="?([\w.:-]+)"?/i.exec(contentType ?? '') ?? [];
  const text = filename === undefined ? Charset.named(label.toLowerCase()).decode(content) : undefined;
  return JSON.stringify(text ?? { filename, contentType, base64: content.toString('base64') });
}
