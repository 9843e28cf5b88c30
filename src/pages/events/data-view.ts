import type { EventData, FormEntries } from '../../events/event-data';
import { letOthersRun } from '../../util/promises';
import { XmlText } from '../../xml/xml-text';
import { longMarkup, markup, type Markup } from '../markup';
import { hexDump } from './parts';

/** An event's payload for its page. */
export interface DataView extends Markup {
  readonly kind: 'JSON' | 'XML' | 'Form' | 'Text' | 'Bytes';
  /** The size of the payload. */
  readonly bytes: number;
  /** The fields of a form, whose `html` is empty. */
  readonly fields?: readonly FieldView[];
  readonly image?: ImageView | undefined;
}

/** An image that bytes are. */
export interface ImageView {
  readonly format: string;
  /** A `data:` URL in characters that need no escape. Undefined if the image is too large to be shown. */
  readonly url: string | undefined;
}

export interface FieldView {
  readonly name: Markup;
  readonly values: readonly Markup[];
}

/** What an event says of its payload. */
interface DataForm {
  /** Whether it came as a form or in a query. */
  readonly isForm: boolean;
  /** Whether its type is one of JSON. A string is shown in its quotes then. */
  readonly isJson: boolean;
}

/** Most characters of a payload that are decoded, indented and shown. */
const MAX_CHARACTERS = 128 * 1024;

/** Most bytes of them as markup. */
export const MAX_BYTES = 8 * MAX_CHARACTERS;

/** Most bytes of a payload that are shown in hexadecimal. */
const MAX_DUMPED = 4096;

/** Most fields of a form, most values of each, and most bytes of each text in it, as markup. */
const MAX_FIELDS = 200;
const MAX_FIELD_BYTES = 4000;

/** Shows JSON and XML indented, a form as its fields, text as it is, bytes in hexadecimal and as an image. */
export async function dataView(data: EventData, { isForm, isJson }: DataForm): Promise<DataView> {
  const bytes = data.size;
  const form = isForm && data.encoded.length <= MAX_CHARACTERS ? data.form() : undefined;
  if (form !== undefined) return { kind: 'Form', bytes, ...fieldsView(form) };
  const { kind, text, isCut } = dataText(data, isJson);
  await letOthersRun();
  const shown = await longMarkup(text, MAX_BYTES);
  const image = kind === 'Bytes' ? imageView(data) : undefined;
  return { kind, bytes, html: shown.html, isCut: isCut || shown.isCut, image };
}

/** A text, or the beginning of one that is cut. */
export interface ShownText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Returns the text that {@link dataView} shows of a payload; of a form its JSON. */
export function dataText(
  data: EventData,
  isJson: boolean,
): ShownText & { readonly kind: Exclude<DataView['kind'], 'Form'> } {
  if (data.kind === 'bytes')
    return { kind: 'Bytes', text: hexDump(data.bytesStart(MAX_DUMPED)), isCut: data.size > MAX_DUMPED };
  const isCut = data.encoded.length > MAX_CHARACTERS;
  if (data.kind === 'json' || isJson) {
    const json = data.kind === 'json' ? data.encoded : `"${data.encoded}"`;
    return { kind: 'JSON', text: indentedJson(json.slice(0, MAX_CHARACTERS)), isCut };
  }
  const text = data.textStart(MAX_CHARACTERS);
  const xml = new XmlText(text);
  return xml.isXml(isCut) ? { kind: 'XML', text: xml.indented(), isCut } : { kind: 'Text', text, isCut };
}

/** Shows the fields of a form or a query. */
function fieldsView(form: FormEntries) {
  let left = MAX_BYTES;
  const fields: FieldView[] = [];
  for (const [name, value] of form) {
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

/** Most bytes of an image that is shown. */
const MAX_IMAGE_BYTES = 1024 * 1024;

/** How files of images begin, each byte a character. */
const IMAGES: readonly (readonly [format: string, start: RegExp])[] = [
  ['PNG', /^\x89PNG\r\n/],
  ['JPEG', /^\xff\xd8\xff/],
  ['GIF', /^GIF8[79]a/],
  ['WebP', /^RIFF....WEBP/s],
];

/** The image that bytes are by their beginning, whatever their sender calls them. */
function imageView(data: EventData): ImageView | undefined {
  const start = data.bytesStart(16).toString('latin1');
  const format = IMAGES.find(([, pattern]) => pattern.test(start))?.[0];
  if (format === undefined) return undefined;
  const url = `data:image/${format.toLowerCase()};base64,${data.encoded}`;
  return { format, url: data.size <= MAX_IMAGE_BYTES && !/[^\w+/=]/.test(data.encoded) ? url : undefined };
}

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

/** A string, also one that is cut, an empty object or array, a mark, or anything else up to the next mark or white space. */
const JSON_PART = /"[^"\\]*(?:\\.[^"\\]*)*"?|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/gs;

/**
 * Indents JSON text; numbers keep their digits and members their order.
 *
 * @param json - valid JSON, of which the end may be missing.
 */
function indentedJson(json: string): string {
  let text = '';
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(Math.min(depth, MAX_DEPTH))}`;
  for (const [part] of json.matchAll(JSON_PART)) {
    if (part === '{' || part === '[') {
      depth++;
      text += part + line();
    } else if (part === '}' || part === ']') {
      depth--;
      text += line() + part;
    } else if (part === ',') text += part + line();
    else if (part === ':') text += ': ';
    else text += /^[{[]/.test(part) ? part.charAt(0) + part.charAt(part.length - 1) : part;
  }
  return text;
}
