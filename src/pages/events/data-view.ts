import { indentedTokens, isXml } from '../../xml/indented-xml';
import { bytesStart, dataSize, isForm, textStart, type EventData } from '../../events/event-data';
import { coloured, markup, type Markup, type Token } from './markup';
import { hexDump } from './parts';

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
export async function dataView(data: EventData, cameAsForm: boolean): Promise<DataView> {
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
    const fields = cameAsForm && !isCut ? formFields(text) : undefined;
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
    switch (token.charAt(0)) {
      case '"':
        yield [token, colon === undefined ? 'text' : 'key'];
        break;
      case '{':
      case '[':
        if (token.length > 1) yield [token.replace(/\s/g, ''), undefined];
        else {
          depth++;
          yield [token + newLine(), undefined];
        }
        break;
      case '}':
      case ']':
        depth--;
        yield [newLine() + token, undefined];
        break;
      case ',':
        yield [token + newLine(), undefined];
        break;
      case ':':
        yield [': ', undefined];
        break;
      default:
        yield [token, 'literal'];
    }
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
