import { JsonText } from '../../events/cloudevents/json-text';
import type { EventData } from '../../events/payload';
import { letOthersRun } from '../../util/promises';
import { sizeText } from '../../util/text';
import { indentedJson, indentedXml } from '../indented-text';
import { hexText, longMarkup, markup, type Markup } from './markup';

/** Most characters of a payload that are decoded, indented and shown. */
const MAX_CHARACTERS = 128 * 1024;

/** Most bytes of them as markup. */
export const MAX_BYTES = 8 * MAX_CHARACTERS;

/** Most bytes of a payload that are shown in hexadecimal. */
const MAX_DUMPED = 4096;

/** Most values in the fields of a form, and most bytes of each text in it, as markup. */
const MAX_VALUES = 200;
const MAX_FIELD_BYTES = 4000;

/** How a payload came: as a form or in a query, as a form with files, with a type of JSON, whose strings are shown in quotes. */
type DataForm = { readonly [Name in 'isForm' | 'isMultipart' | 'isJson']?: boolean | undefined };

/** Shows JSON and XML indented, a form as its fields, text as it is, bytes in hexadecimal and as an image. */
export async function dataView(data: EventData, { isForm, isMultipart, isJson }: DataForm) {
  const size = sizeText(data.size);
  const form = isMultipart || (isForm && data.encoded.length <= MAX_CHARACTERS) ? data.form() : undefined;
  await letOthersRun();
  if (form !== undefined) return { kind: 'Form', size, html: '', image: undefined, ...(await fieldsView(form)) };
  const { kind, text, isCut } = dataText(data, isJson);
  await letOthersRun();
  const shown = await longMarkup(text, MAX_BYTES);
  const image = kind === 'Bytes' ? imageView(data.encoded, MAX_IMAGE_BYTES) : undefined;
  return { kind, size, html: shown.html, isCut: isCut || shown.isCut, image, fields: undefined };
}

/** A text, or the beginning of one that is cut. */
export type ShownText = Readonly<{ text: string; isCut: boolean }>;

/** Returns the text that {@link dataView} shows of a payload; of a form its JSON. */
export function dataText(data: EventData, isJson = false): ShownText & { readonly kind: string } {
  if (data.kind === 'bytes') {
    const start = Buffer.from(data.encoded.slice(0, 2 * MAX_DUMPED), 'base64').subarray(0, MAX_DUMPED);
    return { kind: 'Bytes', text: hexDump(start), isCut: data.size > MAX_DUMPED };
  }
  const isCut = data.encoded.length > MAX_CHARACTERS;
  if (data.kind === 'json' || isJson) {
    const json = data.kind === 'json' ? data.encoded : `"${data.encoded}"`;
    return { kind: 'JSON', text: indentedJson(json.slice(0, MAX_CHARACTERS)), isCut };
  }
  const text = data.textStart(MAX_CHARACTERS);
  const xml = indentedXml(text, isCut);
  return xml === undefined ? { kind: 'Text', text, isCut } : { kind: 'XML', text: xml, isCut };
}

/** Shows the values of a form or a query, each with its field: as many as fit, and images of files up to the size of one image. */
async function fieldsView(form: NonNullable<ReturnType<EventData['form']>>) {
  let [left, imagesLeft, files] = [MAX_BYTES, MAX_IMAGE_BYTES, 0];
  const shown = (text: string): Markup => markup(text, MAX_FIELD_BYTES);
  const valueView = async (value: (typeof form)[number][1]) => {
    if (typeof value === 'string') {
      const json = jsonIn(value);
      return json === undefined ? shown(value) : { ...(await longMarkup(json, left)), isJson: true };
    }
    const { filename = '', contentType = '', base64 } = value;
    const image = imageView(base64, imagesLeft);
    imagesLeft -= image?.url?.length ?? 0;
    const size = sizeText(Buffer.byteLength(base64, 'base64'));
    return { ...shown([filename, contentType].join(' ')), file: { number: files++, size, image } };
  };
  const fields: { readonly name: Markup; readonly value: Markup }[] = [];
  for (const [name, value] of form.slice(0, MAX_VALUES)) {
    if (left <= 0) break;
    const field = { name: shown(name), value: await valueView(value) };
    left -= Buffer.byteLength(field.name.html + field.value.html);
    fields.push(field);
  }
  return { fields, isCut: fields.length < form.length };
}

/** The JSON that a text of a form is, indented. Undefined if it is none or long. */
function jsonIn(text: string): string | undefined {
  const isJson = /^\s*[{[]/.test(text) && text.length <= MAX_CHARACTERS && new JsonText(text).parsed() !== undefined;
  return isJson ? indentedJson(text) : undefined;
}

const MAX_IMAGE_BYTES = 1024 * 1024;

/** How files of images begin, each byte a character. */
const IMAGES: readonly (readonly [format: string, start: RegExp])[] = [
  ['PNG', /^\x89PNG\r\n/],
  ['JPEG', /^\xff\xd8\xff/],
  ['GIF', /^GIF8[79]a/],
  ['WebP', /^RIFF....WEBP/s],
];

/** The image that bytes are by their beginning; one that is too large has no `data:` URL. */
function imageView(base64: string, maxBytes: number) {
  const start = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1');
  const format = IMAGES.find(([, pattern]) => pattern.test(start))?.[0];
  if (format === undefined) return undefined;
  const isShown = Buffer.byteLength(base64, 'base64') <= maxBytes && !/[^\w+/=]/.test(base64);
  return { format, url: isShown ? `data:image/${format.toLowerCase()};base64,${base64}` : undefined };
}

function hexDump(bytes: Buffer): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 16) {
    const line = bytes.subarray(offset, offset + 16);
    const hex = [line.subarray(0, 8), line.subarray(8)].map((half) => hexText(half).padEnd(23)).join('  ');
    const text = line.toString('latin1').replace(/[^ -~]/g, '.');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex}  |${text}|`);
  }
  return lines.join('\n');
}
