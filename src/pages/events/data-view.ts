import { XmlText } from '../../xml/xml-text';
import type { EventData } from '../../events/event-data';
import { imageView, type ImageView } from './image';
import { coloured, markup, plain, type Markup, type Token } from './markup';
import { hexDump } from './parts';

/** An event's payload for its page. */
export interface DataView extends Markup {
  readonly kind: 'JSON' | 'XML' | 'Form' | 'Text' | 'Bytes';
  /** The size of the payload. */
  readonly bytes: number;
  /** The fields of a form, whose `html` is empty. */
  readonly fields?: readonly FieldView[];
  /** The image that the bytes are. */
  readonly image?: ImageView | undefined;
}

export interface FieldView {
  readonly name: Markup;
  readonly values: readonly Markup[];
}

/** Most characters of a payload that are decoded, indented and shown. */
const MAX_CHARACTERS = 256 * 1024;

/** Most bytes of them as markup, colours included. */
export const MAX_BYTES = 8 * MAX_CHARACTERS;

/** Most bytes of a payload that are shown in hexadecimal. */
const MAX_DUMPED = 4096;

/** Most fields of a form, most values of each, and most bytes of each text in it, as markup. */
const MAX_FIELDS = 200;
const MAX_FIELD_BYTES = 4000;

/** Shows JSON and XML indented and in colours, a form as its fields, text as it is, bytes in hexadecimal and as an image. */
export async function dataView(data: EventData, cameAsForm: boolean): Promise<DataView> {
  const bytes = data.size;
  const form = cameAsForm && data.encoded.length <= MAX_CHARACTERS ? data.form() : undefined;
  if (form !== undefined) return { kind: 'Form', bytes, ...fieldsView(form) };
  const { kind, tokens, isCut } = parsed(data);
  const shown = await coloured(tokens, MAX_BYTES);
  const image = kind === 'Bytes' ? imageView(data, bytes) : undefined;
  return { kind, bytes, html: shown.html, isCut: isCut || shown.isCut, image };
}

/** A text, or the beginning of one that is cut. */
export interface ShownText {
  readonly text: string;
  readonly isCut: boolean;
}

/** Returns the text that {@link dataView} shows of a payload, without colours; of a form its JSON. */
export async function dataText(data: EventData): Promise<ShownText> {
  const { tokens, isCut } = parsed(data);
  return { text: await plain(tokens()), isCut };
}

/** Divides the beginning of a payload into parts. */
function parsed(data: EventData): {
  readonly kind: Exclude<DataView['kind'], 'Form'>;
  readonly tokens: () => Iterable<Token>;
  readonly isCut: boolean;
} {
  if (data.kind === 'bytes') {
    const dump = hexDump(data.bytesStart(MAX_DUMPED));
    return { kind: 'Bytes', tokens: () => [[dump, undefined]], isCut: data.size > MAX_DUMPED };
  }
  const text = data.textStart(MAX_CHARACTERS);
  const isCut = data.encoded.length > MAX_CHARACTERS;
  if (data.kind === 'json') return { kind: 'JSON', tokens: () => jsonTokens(text), isCut };
  const xml = new XmlText(text);
  if (xml.isXml(isCut)) return { kind: 'XML', tokens: () => xmlTokens(xml), isCut };
  return { kind: 'Text', tokens: () => textTokens(text), isCut };
}

/** Divides a text into parts that are written quickly, but neither a surrogate pair nor a CRLF. */
function* textTokens(text: string): Iterable<Token> {
  for (const [part] of text.matchAll(/[^]{1,4096}(?:(?<=[\uD800-\uDBFF\r])[^])*/g)) yield [part, undefined];
}

/** Shows the fields of a form or a query. */
function fieldsView(form: Readonly<Record<string, string | readonly string[]>>) {
  let left = MAX_BYTES;
  const fields: FieldView[] = [];
  for (const [name, value] of Object.entries(form)) {
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

/** Divides XML into its parts, indented. */
function* xmlTokens(xml: XmlText): Iterable<Token> {
  for (const [indentation, token] of xml.indentedTokens()) {
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

const INDENT = '  ';

/** Deeper levels are neither indented further nor fold: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

/** Most objects and arrays that fold: browsers take a while to lay each of them out. */
const MAX_FOLDS = 1000;

/**
 * Divides JSON text into its parts, indented, objects and arrays to fold; numbers keep their digits and members their order. Each
 * line ends within the part that it begins in, so that none is empty where parts are blocks.
 *
 * @param json - valid JSON, of which the end may be missing.
 */
function* jsonTokens(json: string): Iterable<Token> {
  /** Of each open object and array, whether it folds. */
  const open: boolean[] = [];
  let folds = 0;
  let isLineStart = true;
  let isInFirstLine = false;
  /** Whether a part that folds has ended, but its last line has not. */
  let hasEnded = false;
  const indentation = (): Token => [INDENT.repeat(Math.min(open.length, MAX_DEPTH)), undefined];
  for (const [token, colon = ''] of json.matchAll(TOKEN)) {
    if (token === ',') {
      yield [',\n', undefined];
      if (hasEnded) yield 'end';
      hasEnded = false;
      isLineStart = true;
      continue;
    }
    if (token === '}' || token === ']') {
      yield ['\n', undefined];
      if (hasEnded) yield 'end';
      hasEnded = open.pop() === true;
      yield indentation();
      yield [token, undefined];
      continue;
    }
    if (isLineStart) {
      const mayFold = token === '{' || token === '[' || /[{[]$/.test(colon);
      isInFirstLine = mayFold && open.length < MAX_DEPTH && folds < MAX_FOLDS;
      if (isInFirstLine) {
        folds++;
        yield 'fold';
      }
      yield indentation();
      isLineStart = false;
    }
    switch (token.charAt(0)) {
      case '"':
        yield [token, colon === '' ? 'text' : 'key'];
        break;
      case '{':
      case '[':
        if (token.length > 1) yield [token.replace(/\s/g, ''), undefined];
        else {
          yield [token, undefined];
          yield isInFirstLine ? 'rest' : ['\n', undefined];
          open.push(isInFirstLine);
          isInFirstLine = false;
          isLineStart = true;
        }
        break;
      case ':':
        yield [': ', undefined];
        break;
      default:
        yield [token, 'literal'];
    }
  }
  if (hasEnded) yield 'end';
  for (const isFold of open) if (isFold) yield 'end';
}

/**
 * An empty object or array, a mark, a string (also one that is cut) and after it the colon with the beginning of an object or array
 * that is not empty, or a number or name.
 */
const TOKEN =
  /\{\s*\}|\[\s*\]|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"?(?=(\s*:(?:\s*(?:\{(?!\s*\})|\[(?!\s*\])))?)?)|[^\s{}[\],:"]+/gs;
