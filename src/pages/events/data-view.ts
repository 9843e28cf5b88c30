import { indentedTokens, isXml } from '../../xml/indented-xml';
import { coloured, markup, type Markup, type Token } from './markup';

/** An event's payload for its page. */
export interface DataView extends Markup {
  readonly kind: 'JSON' | 'XML' | 'Form' | 'Text' | 'Bytes';
  /** The size of the payload. */
  readonly bytes: number;
  /** The fields of a form, whose `html` is empty. */
  readonly fields?: readonly FieldView[];
}

export interface FieldView {
  readonly name: Markup;
  readonly values: readonly Markup[];
}

/** Most characters of a payload that are decoded, indented and shown. */
const MAX_CHARACTERS = 256 * 1024;

/** Most bytes of them as markup, colours included. */
const MAX_BYTES = 8 * MAX_CHARACTERS;

/** Most bytes of a payload that are shown in hexadecimal. */
const MAX_DUMPED = 4096;

/** Most fields of a form, most values of each, and most bytes of each text in it, as markup. */
const MAX_FIELDS = 200;
const MAX_FIELD_BYTES = 4000;

/** Shows JSON and XML indented and in colours, a form as its fields, text as it is and bytes in hexadecimal. */
export async function dataView(data: EventData, isForm: boolean): Promise<DataView> {
  const bytes = dataSize(data);
  if (data.kind === 'bytes') {
    const { html } = markup(hexDump(bytesStart(data, MAX_DUMPED)), MAX_BYTES);
    return { kind: 'Bytes', bytes, html, isCut: bytes > MAX_DUMPED };
  }
  const text = textStart(data, MAX_CHARACTERS);
  const isCut = data.encoded.length > MAX_CHARACTERS;
  const shown = (kind: DataView['kind'], part: Markup): DataView => ({
    kind,
    bytes,
    html: part.html,
    isCut: isCut || part.isCut,
  });
  if (data.kind === 'json') {
    const fields = isForm && !isCut ? formFields(text) : undefined;
    if (fields !== undefined) return { kind: 'Form', bytes, ...fields };
    return shown('JSON', await coloured(() => jsonTokens(text), MAX_BYTES));
  }
  if (await isXml(text, isCut)) return shown('XML', await coloured(() => xmlTokens(text), MAX_BYTES));
  return shown('Text', markup(text, MAX_BYTES));
}

/** Shows the fields of a form or a query. Returns undefined for JSON that does not come from one. */
function formFields(json: string): Pick<DataView, 'fields' | 'html' | 'isCut'> | undefined {
  const members: unknown = JSON.parse(json);
  if (!isForm(members)) return undefined;
  let left = MAX_BYTES;
  const fields: FieldView[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (fields.length === MAX_FIELDS || left <= 0) return { fields, html: '', isCut: true };
    const texts = [name, value]
      .flat()
      .slice(0, MAX_FIELDS)
      .map((text) => markup(text, Math.max(0, Math.min(left, MAX_FIELD_BYTES))));
    for (const { html } of texts) left -= Buffer.byteLength(html) + MARKUP_AROUND;
    const [shownName = { html: '', isCut: false }, ...values] = texts;
    fields.push({ name: shownName, values });
  }
  return { fields, html: '', isCut: false };
}

/** About how many bytes the page adds to each text. */
const MARKUP_AROUND = 40;

/** Whether a value is what the service makes of a form: an object of strings or lists of strings. */
export function isForm(value: unknown): value is Readonly<Record<string, string | readonly string[]>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const values = Object.values(value).flat() as unknown[];
  return values.every((text) => typeof text === 'string');
}

const INDENT = '  ';

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

/**
 * Divides JSON text into its parts, indented; numbers keep their digits and members their order.
 *
 * @param json - valid JSON, of which the end may be missing.
 */
function* jsonTokens(json: string): Iterable<Token> {
  let depth = 0;
  const newLine = (): string => `\n${INDENT.repeat(Math.min(depth, MAX_DEPTH))}`;
  for (const [token, colon] of json.matchAll(TOKEN)) {
    const first = token[0] ?? '';
    if (first === '"') yield [token, colon === undefined ? 'text' : 'key'];
    else if (first === '{' || first === '[') {
      const isEmpty = token.length > 1;
      if (!isEmpty) depth++;
      yield [isEmpty ? `${first}${token.at(-1) ?? ''}` : first + newLine(), undefined];
    } else if (first === '}' || first === ']') {
      depth--;
      yield [newLine() + first, undefined];
    } else if (first === ',') yield [`,${newLine()}`, undefined];
    else if (first === ':') yield [': ', undefined];
    else yield [token, 'literal'];
  }
}

/** An empty object or array, a mark, a string (also one that is cut) and the colon after it, or a number or name. */
const TOKEN = /\{\s*\}|\[\s*\]|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"?(?=(\s*:)?)|[^\s{}[\],:"]+/gs;

/** Divides XML into its parts, indented. */
function* xmlTokens(xml: string): Iterable<Token> {
  for (const [indentation, token] of indentedTokens(xml)) {
    if (indentation !== '') yield [indentation, undefined];
    if (/^<[!?]/.test(token)) yield [token, token.startsWith('<![CDATA[') ? undefined : 'comment'];
    else if (!/^<.*>$/s.test(token)) yield [token, undefined];
    else {
      // Values of attributes stand at the odd places.
      for (const [i, part] of token.split(/("[^"]*"|'[^']*')/).entries()) {
        if (part !== '') yield [part, i % 2 === 1 ? 'text' : 'key'];
      }
    }
  }
}

const BYTES_IN_LINE = 16;

/** Writes bytes as `hexdump -C` does: offset, sixteen bytes in hexadecimal, and those of them that are printable ASCII. */
export function hexDump(bytes: Buffer): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += BYTES_IN_LINE) {
    const line = bytes.subarray(offset, offset + BYTES_IN_LINE);
    const hex = [line.subarray(0, 8), line.subarray(8)].map((half) => hexText(half).padEnd(23)).join('  ');
    const text = [...line].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex}  |${text}|`);
  }
  return lines.join('\n');
}

/** Writes bytes in hexadecimal, with a space between them. */
export function hexText(bytes: Buffer): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}

/** The payload of an event, as the log keeps it. */
export interface EventData {
  /** `json`: a JSON value other than a string; `text`: a string; `bytes`: what is neither. */
  readonly kind: 'json' | 'text' | 'bytes';
  /** The JSON text, the string as JSON writes it without its quotes, or the base64. */
  readonly encoded: string;
}

/** Reads what `StoredEvent.data` holds, without decoding it: it may be large. */
export function eventData(data: string): EventData {
  const [start = '', name] = /^\s*"([^"]*)"\s*:\s*/.exec(data) ?? [];
  const value = data.slice(start.length).trimEnd();
  if (!value.startsWith('"')) return { kind: 'json', encoded: value };
  return { kind: name === 'data_base64' ? 'bytes' : 'text', encoded: value.slice(1, -1) };
}

/** The payload as bytes: JSON and text in UTF-8. */
export function dataBytes({ kind, encoded }: EventData): Buffer {
  if (kind === 'bytes') return Buffer.from(encoded, 'base64');
  return Buffer.from(kind === 'json' ? encoded : (JSON.parse(`"${encoded}"`) as string));
}

/** The size of the payload in bytes; of a text, as JSON writes it, which is what the list of events shows. */
function dataSize({ kind, encoded }: EventData): number {
  return Buffer.byteLength(encoded, kind === 'bytes' ? 'base64' : 'utf8');
}

/** The first characters of JSON or of a text; a surrogate pair that the cut divides is dropped. */
export function textStart(data: EventData, maxLength: number): string {
  const start = decodedStart(data, maxLength);
  return data.encoded.length > maxLength ? start.replace(/[\uD800-\uDBFF]$/, '') : start;
}

function decodedStart({ kind, encoded }: EventData, maxLength: number): string {
  if (kind === 'json') return encoded.slice(0, maxLength);
  if (encoded.length <= maxLength) return JSON.parse(`"${encoded}"`) as string;
  // The cut may divide an escape, which leaves invalid JSON.
  for (let length = maxLength; ; length--) {
    try {
      return JSON.parse(`"${encoded.slice(0, length)}"`) as string;
    } catch (error) {
      if (length < maxLength - MAX_ESCAPE) throw error;
    }
  }
}

/** The length of the longest escape: `\\uXXXX`. */
const MAX_ESCAPE = 6;

/** The first bytes of a payload of the kind `bytes`. */
function bytesStart({ encoded }: EventData, maxBytes: number): Buffer {
  return Buffer.from(encoded.slice(0, Math.ceil(maxBytes / 3) * 4), 'base64').subarray(0, maxBytes);
}
