import { indentedXml } from './indented-xml';
import { bytesStart, dataSize, textStart, type EventData } from './event-data';
import { hexDump } from './hex-dump';
import { indentedJson } from './indented-json';
import { markup, type Markup } from './markup';

/** An event's payload for its page. */
export interface DataView extends Markup {
  /** What it is, in a word for a person. */
  readonly kind: 'JSON' | 'XML' | 'Form' | 'Text' | 'Bytes';
  /** Its size in bytes. */
  readonly bytes: number;
  /** Of a form: its fields, each name with its values. Its `html` is empty. */
  readonly fields?: readonly FieldView[];
}

export interface FieldView {
  readonly name: Markup;
  readonly values: readonly Markup[];
}

/** Most bytes of a payload on the page, as markup. */
const MAX_BYTES = 100_000;

/** Most characters that are decoded and indented for it; in markup a character has at least one byte. */
const MAX_CHARACTERS = MAX_BYTES;

/** Most bytes of a payload that are shown in hexadecimal. */
const MAX_DUMPED = 4096;

/** Most fields of a form, most values of each, and most bytes of each text in it, as markup. */
const MAX_FIELDS = 200;
const MAX_FIELD_BYTES = 4000;

/** Shows a payload by its kind: JSON and XML indented, the fields of a form, text as it is, bytes in hexadecimal. */
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
  const xml = /^\s*</.test(text) ? indentedXml(text) : undefined;
  return xml === undefined ? shown('Text', bytes, text, isCut) : shown('XML', bytes, xml, isCut);
}

function shown(kind: DataView['kind'], bytes: number, text: string, isCut: boolean): DataView {
  const { html, isCut: isCutHere } = markup(text, MAX_BYTES);
  return { kind, bytes, html, isCut: isCut || isCutHere };
}

/** The fields of a form or a query; undefined: the JSON is not that of a form. */
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

/** About as many bytes of markup stand around each text. */
const MARKUP_AROUND = 40;

/** Whether a value is what becomes of a form: an object of strings, or of lists of strings. */
export function isForm(value: unknown): value is Readonly<Record<string, string | readonly string[]>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const values = Object.values(value).flat() as unknown[];
  return values.every((text) => typeof text === 'string');
}
