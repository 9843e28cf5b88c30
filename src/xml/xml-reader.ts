import { SaxesParser } from 'saxes';
import { shortened } from '../util/text';
import { CommonXmlReader } from './common-xml-reader';
import { checkElements, NO_DECLARATIONS, Scope, tooMuch, XmlError, type XmlHandler } from './handler';

/**
 * Reads an XML 1.0 document with namespaces strictly, with {@link CommonXmlReader} or, from the beginning again, with `saxes`. Returns
 * the handler to which all of it was reported.
 *
 * There are two readers because `saxes` alone costs 34 % more where envelopes differ, and 39 % of a RecordEvent with 1 KB. No other
 * library is as strict and faster: `@rgrove/parse-xml` costs 24 and 48 %, overflows the stack and takes 15 s for 4 MB of line ends;
 * libxml2 in WebAssembly and `slimdom` are far slower.
 *
 * @throws {XmlError} or what the handler throws.
 */
export function readXml<Handler extends XmlHandler>(xml: string, handlerOf: () => Handler): Handler {
  const handler = handlerOf();
  if (new CommonXmlReader(xml, handler).read()) return handler;
  const again = handlerOf();
  readWithSaxes(xml, again);
  return again;
}

const PART_LENGTH = 64 * 1024;

/** Reads a document with `saxes`, which does not judge halves of surrogate pairs that stand alone. Throws as {@link readXml}. */
export function readWithSaxes(xml: string, handler: XmlHandler): void {
  const parser = parserFor(xml, handler);
  try {
    for (let start = 0; start < xml.length; start += PART_LENGTH) {
      parser.write(xml.slice(start, start + PART_LENGTH));
      joinTexts(parser);
    }
    parser.close();
  } catch (error) {
    throw mistakeIn(xml, error) ?? error;
  }
}

const MAX_ATTRIBUTES = 256;
const MAX_NAME_LENGTH = 1024;

/** A character after the colon that may stand in a name, but not first (Namespaces in XML 1.0, section 3): `saxes` takes it. */
const MALFORMED = /:[\u0300-\u036f\u203f\u2040\xb7\d.-]/;

function checkName(name: string, parser: SaxesParser<{ xmlns: true }>): void {
  if (name.length > MAX_NAME_LENGTH) throw tooMuch(`a name of more than ${String(MAX_NAME_LENGTH)} characters`);
  if (MALFORMED.test(name)) parser.fail(`malformed name: ${name}.`);
}

/**
 * Returns a parser that reports to a handler. It has six event handlers: it keeps them as properties, and with more of those V8 turns
 * it into a dictionary, and reading takes four times as long.
 */
function parserFor(xml: string, handler: XmlHandler): SaxesParser<{ xmlns: true }> {
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  const scopes: Scope[] = [];
  let elements = 0;
  let attributes = 0;
  parser.on('doctype', () => {
    throw new XmlError('A document type declaration is not allowed.');
  });
  parser.on('attribute', ({ name }) => {
    if (++attributes > MAX_ATTRIBUTES) throw tooMuch(`an element with more than ${String(MAX_ATTRIBUTES)} attributes`);
    checkName(name, parser);
  });
  parser.on('opentag', (tag) => {
    attributes = 0;
    checkName(tag.name, parser);
    const declared = Object.entries(tag.ns);
    const outer = scopes.at(-1) ?? NO_DECLARATIONS;
    const scope = declared.length === 0 ? outer : new Scope(new Map(declared), outer);
    checkElements(++elements, scopes.push(scope));
    const { name, local, uri } = tag;
    const others = Object.values(tag.attributes).filter((one) => one.prefix !== 'xmlns' && one.name !== 'xmlns');
    const end = parser.position;
    // An attribute value cannot hold this character.
    handler.openElement({ name, local, uri, attributes: others, scope }, xml.lastIndexOf('<', end - 1), end);
  });
  parser.on('closetag', ({ isSelfClosing }) => {
    scopes.pop();
    const { position } = parser;
    handler.closeElement(isSelfClosing ? position : xml.lastIndexOf('</', position - 1));
  });
  for (const event of ['text', 'cdata'] as const)
    parser.on(event, (text) => {
      handler.addText(text);
    });
  return parser;
}

/** `saxes` adds single characters to its texts, and V8 keeps each (120 MB for 4 MB of `]x`) until a regular expression looks. */
function joinTexts(parser: object): void {
  for (const value of Object.values(parser)) if (typeof value === 'string') IS_EMPTY.test(value);
}

const IS_EMPTY = /^$/;

/** Puts an error of the parser, `line:column: reason`, into words. The reason may quote the document, so it is shortened. */
function mistakeIn(xml: string, error: unknown): XmlError | undefined {
  const [, line = '', column = '', reason] = PARSER_ERROR.exec((error as Error).message) ?? [];
  if (reason === undefined) return undefined;
  const ampersand = MAY_BE_AMPERSAND.test(reason) ? wrongAmpersand(xml) : undefined;
  if (ampersand === undefined)
    return new XmlError(`${shortened(reason).replace(/\w$/, '$&.')} Line ${line}, position ${column}.`);
  const before = xml.slice(0, ampersand).split('\n');
  const place = `Line ${String(before.length)}, position ${String((before.at(-1)?.length ?? 0) + 1)}.`;
  return new XmlError(`An & that begins no reference must be written as &amp;. ${place}`);
}

const PARSER_ERROR = /^(\d+):(\d+): ([^]*)$/;

/** Reasons that `saxes` gives for it, at the next `;` or at the end of the document. */
const MAY_BE_AMPERSAND = /entity|unclosed tag|unexpected end/;

/** A section in which an ampersand is text, or an ampersand that begins no reference. */
const SECTION_OR_AMPERSAND = /<!--[^]*?(?:-->|$)|<!\[CDATA\[[^]*?(?:\]\]>|$)|<\?[^]*?(?:\?>|$)|&(?![^&;<>\s]+;)/g;

function wrongAmpersand(xml: string): number | undefined {
  for (const { 0: text, index } of xml.matchAll(SECTION_OR_AMPERSAND)) if (text === '&') return index;
  return undefined;
}
