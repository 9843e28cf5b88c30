import { indentedXml, isXml } from '../../xml/indented-xml';
import { coloured, markup, type Markup } from './markup';

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

/** Most bytes of a payload on the page, as markup. */
const MAX_BYTES = 100_000;

/** Most characters that are decoded and indented; as markup each takes at least one byte. */
const MAX_CHARACTERS = MAX_BYTES;

/** Most bytes of a payload that are shown in hexadecimal. */
const MAX_DUMPED = 4096;

/** Most fields of a form, most values of each, and most bytes of each text in it, as markup. */
const MAX_FIELDS = 200;
const MAX_FIELD_BYTES = 4000;

/** Shows JSON and XML indented and in colours, a form as its fields, text as it is and bytes in hexadecimal. */
export function dataView(data: EventData, isForm: boolean): DataView {
  const bytes = dataSize(data);
  if (data.kind === 'bytes') {
    const { html } = markup(hexDump(bytesStart(data, MAX_DUMPED)), MAX_BYTES);
    return { kind: 'Bytes', bytes, html, isCut: bytes > MAX_DUMPED };
  }
  const text = textStart(data, MAX_CHARACTERS);
  const isCut = data.encoded.length > MAX_CHARACTERS;
  if (data.kind === 'json') {
    const fields = isForm && !isCut ? formFields(text) : undefined;
    if (fields !== undefined) return { kind: 'Form', bytes, ...fields };
    return shown('JSON', bytes, indentedJson(text, MAX_CHARACTERS), isCut);
  }
  const xml = isXml(text, isCut) ? indentedXml(text, MAX_CHARACTERS) : undefined;
  return xml === undefined ? shown('Text', bytes, text, isCut) : shown('XML', bytes, xml, isCut);
}

function shown(kind: DataView['kind'], bytes: number, text: string, isCut: boolean): DataView {
  const isPlain = kind !== 'JSON' && kind !== 'XML';
  const { html, isCut: isCutHere } = isPlain ? markup(text, MAX_BYTES) : coloured(kind, text, MAX_BYTES);
  return { kind, bytes, html, isCut: isCut || isCutHere };
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
const MAX_DEPTH = 40;

/**
 * Indents JSON text, whose numbers keep their digits and whose members keep their order.
 *
 * @param json - valid JSON, of which the end may be missing.
 * @param maxLength - about how many characters to return at most.
 */
export function indentedJson(json: string, maxLength: number): string {
  let text = '';
  let depth = 0;
  const newLine = (): string => `\n${INDENT.repeat(Math.min(depth, MAX_DEPTH))}`;
  for (const [token] of json.matchAll(TOKEN)) {
    if (text.length > maxLength) break;
    const first = token[0] ?? '';
    if (first === '{' || first === '[') {
      text += token.length > 1 ? `${first}${token.at(-1) ?? ''}` : first;
      if (token.length > 1) continue;
      depth++;
      text += newLine();
    } else if (first === '}' || first === ']') {
      depth--;
      text += newLine() + first;
    } else if (first === ',') text += `,${newLine()}`;
    else if (first === ':') text += ': ';
    else text += token;
  }
  return text;
}

/** An empty object or array, a mark, a string (also one that is cut), or a number or name. */
const TOKEN = /\{\s*\}|\[\s*\]|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"?|[^\s{}[\],:"]+/gs;

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

/** The longest text that is decoded to find its size. */
const MAX_DECODED = 65_536;

/** The size of the payload in bytes; of a long text, as JSON writes it. */
function dataSize(data: EventData): number {
  const { kind, encoded } = data;
  if (kind === 'text' && encoded.length <= MAX_DECODED) return dataBytes(data).length;
  return kind === 'bytes' ? Buffer.byteLength(encoded, 'base64') : Buffer.byteLength(encoded);
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
