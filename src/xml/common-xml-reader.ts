import {
  attributeValue,
  hasOnlyCharacters,
  isSpace,
  isSpaceCode,
  nameEnd,
  resolved,
  withLineFeeds,
} from './characters';
import { NO_DECLARATIONS, Scope, type Attribute, type Tag, type XmlHandler } from './handler';

const LESS = 0x3c;
const GREATER = 0x3e;
const SLASH = 0x2f;
const BANG = 0x21;
const COLON = 0x3a;
const EQUALS = 0x3d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

const COMMENT = '<!--';
const CDATA = '<![CDATA[';
const CDATA_END = ']]>';

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

const DECLARATION =
  /<\?xml +version=(?:"1\.\d+"|'1\.\d+')(?: +encoding=(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?: +standalone=(?:"(?:yes|no)"|'(?:yes|no)'))? *\?>/y;

/** More attributes or longer names than messages have; they bound what one tag can cost. */
const MAX_ATTRIBUTES = 16;
const MAX_NAME_LENGTH = 256;

const NO_ATTRIBUTES: readonly Attribute[] = [];

/**
 * Reads the XML that messages are written in, strictly and in a fraction of the time that `saxes` takes: elements with names in
 * ASCII, attributes, text, references, CDATA sections and comments. It gives up on everything else, right or wrong; `saxes` then
 * reads it. What it reads it reads as `saxes` does; `scripts/fuzz/envelopes.mjs` compares the two.
 */
export class CommonXmlReader {
  readonly #xml: string;
  readonly #handler: XmlHandler;
  readonly #hasReferences: boolean;
  readonly #hasCdataEnd: boolean;
  /** The open elements, outermost first. */
  readonly #open: Tag[] = [];
  #hasRoot = false;
  /** How far it has read. */
  #position = 0;
  /** Where the colon of the last name is, or -1. */
  #colon = -1;
  // Of the last start tag.
  #attributes: { -readonly [P in keyof Attribute]: Attribute[P] }[] | undefined;
  #declared: Map<string, string> | undefined;

  /** @param xml - a whole document. */
  constructor(xml: string, handler: XmlHandler) {
    this.#xml = xml;
    this.#handler = handler;
    this.#hasReferences = xml.includes('&');
    this.#hasCdataEnd = xml.includes(CDATA_END);
  }

  /** Reads the document. Returns whether it got to the end; if not, what the handler was given is right, but not all. */
  read(): boolean {
    const xml = this.#xml;
    if (!hasOnlyCharacters(xml)) return false;
    DECLARATION.lastIndex = 0;
    if (DECLARATION.test(xml)) this.#position = DECLARATION.lastIndex;
    for (;;) {
      const position = this.#position;
      const start = xml.charCodeAt(position) === LESS ? position : xml.indexOf('<', position);
      const isLast = start === -1;
      if (isLast && this.#open.length > 0) return false;
      if (!this.#readText(isLast ? xml.length : start)) return false;
      if (isLast) return this.#hasRoot;
      if (!this.#readMarkup()) return false;
    }
  }

  #readText(end: number): boolean {
    const start = this.#position;
    if (start === end) return true;
    this.#position = end;
    const raw = this.#xml.slice(start, end);
    if (this.#open.length === 0) return isSpace(raw);
    if (this.#hasCdataEnd && raw.includes(CDATA_END)) return false;
    const text = this.#hasReferences ? resolved(withLineFeeds(raw)) : withLineFeeds(raw);
    if (text === undefined) return false;
    this.#handler.addText(text);
    return true;
  }

  /** Reads a tag, a comment or a CDATA section. */
  #readMarkup(): boolean {
    const code = this.#xml.charCodeAt(this.#position + 1);
    if (code === SLASH) return this.#readEndTag();
    if (code !== BANG) return this.#readStartTag();
    return this.#xml.startsWith(COMMENT, this.#position) ? this.#readComment() : this.#readCdata();
  }

  #readEndTag(): boolean {
    const xml = this.#xml;
    const start = this.#position;
    const name = this.#open.pop()?.name;
    if (name === undefined || !xml.startsWith(name, start + 2)) return false;
    this.#position = start + 2 + name.length;
    this.#skipSpace();
    if (xml.charCodeAt(this.#position) !== GREATER) return false;
    this.#position++;
    this.#handler.closeElement(start);
    return true;
  }

  #readComment(): boolean {
    const end = this.#xml.indexOf('--', this.#position + COMMENT.length);
    if (end === -1 || this.#xml.charCodeAt(end + 2) !== GREATER) return false;
    this.#position = end + 3;
    return true;
  }

  #readCdata(): boolean {
    if (!this.#xml.startsWith(CDATA, this.#position) || this.#open.length === 0) return false;
    const start = this.#position + CDATA.length;
    const end = this.#xml.indexOf(CDATA_END, start);
    if (end === -1) return false;
    this.#position = end + CDATA_END.length;
    this.#handler.addText(withLineFeeds(this.#xml.slice(start, end)));
    return true;
  }

  #readStartTag(): boolean {
    if (this.#open.length === 0) {
      if (this.#hasRoot) return false;
      this.#hasRoot = true;
    }
    const xml = this.#xml;
    const start = this.#position++;
    if (!this.#readName()) return false;
    const colon = this.#colon;
    const end = this.#position;
    if (!this.#readAttributes()) return false;
    const outer = this.#open.at(-1)?.scope ?? NO_DECLARATIONS;
    const scope = this.#declared === undefined ? outer : new Scope(this.#declared, outer);
    if (!this.#resolveAttributes(scope)) return false;
    const attributes = this.#attributes ?? NO_ATTRIBUTES;
    const name = xml.slice(start + 1, end);
    if (colon === -1) {
      this.#openElement({ name, prefix: '', local: name, uri: scope.defaultNamespace, attributes, scope }, start);
      return true;
    }
    const prefix = xml.slice(start + 1, colon);
    const uri = scope.find(prefix);
    if (uri === undefined) return false;
    this.#openElement({ name, prefix, local: xml.slice(colon + 1, end), uri, attributes, scope }, start);
    return true;
  }

  #openElement(tag: Tag, start: number): void {
    const end = this.#position;
    this.#handler.openElement(tag, start, end);
    // Before the end of any other tag there is a name, a quote or space.
    if (this.#xml.charCodeAt(end - 2) === SLASH) this.#handler.closeElement(end);
    else this.#open.push(tag);
  }

  #readName(): boolean {
    const xml = this.#xml;
    const start = this.#position;
    let end = nameEnd(xml, start);
    if (end === start) return false;
    this.#colon = -1;
    if (xml.charCodeAt(end) === COLON) {
      this.#colon = end;
      end = nameEnd(xml, end + 1);
      if (end === this.#colon + 1) return false;
    }
    this.#position = end;
    return end - start <= MAX_NAME_LENGTH;
  }

  #skipSpace(): void {
    while (isSpaceCode(this.#xml.charCodeAt(this.#position))) this.#position++;
  }

  /** Reads what follows the name of an element, to the end of its start tag. */
  #readAttributes(): boolean {
    const xml = this.#xml;
    this.#attributes = undefined;
    this.#declared = undefined;
    const next = xml.indexOf('<', this.#position);
    const limit = next === -1 ? xml.length : next;
    for (let count = 0; count <= MAX_ATTRIBUTES; count++) {
      const before = this.#position;
      this.#skipSpace();
      const code = xml.charCodeAt(this.#position);
      if (code === SLASH) this.#position++;
      if (code === GREATER || code === SLASH) return xml.charCodeAt(this.#position++) === GREATER;
      if (this.#position === before || !this.#readAttribute(limit)) return false;
    }
    return false;
  }

  /** @param limit - where the next tag starts; a value cannot have its `<`. */
  #readAttribute(limit: number): boolean {
    const start = this.#position;
    if (!this.#readName()) return false;
    const xml = this.#xml;
    const colon = this.#colon;
    const end = this.#position;
    if (xml.charCodeAt(end) !== EQUALS) return false;
    const quote = xml.charCodeAt(end + 1);
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) return false;
    const valueEnd = xml.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", end + 2);
    if (valueEnd === -1 || valueEnd > limit) return false;
    this.#position = valueEnd + 1;
    const value = attributeValue(xml.slice(end + 2, valueEnd));
    if (value === undefined) return false;
    const name = xml.slice(start, end);
    if (name === 'xmlns') return this.#declare('', value.trim());
    const prefix = colon === -1 ? '' : xml.slice(start, colon);
    const local = colon === -1 ? name : xml.slice(colon + 1, end);
    if (prefix === 'xmlns') return this.#declare(local, value.trim());
    (this.#attributes ??= []).push({ name, prefix, local, uri: '', value });
    return true;
  }

  #declare(prefix: string, namespace: string): boolean {
    if (prefix === 'xml' || prefix === 'xmlns' || (prefix !== '' && namespace === '')) return false;
    if (namespace === XML_NAMESPACE || namespace === XMLNS_NAMESPACE) return false;
    const declared = (this.#declared ??= new Map<string, string>());
    if (declared.has(prefix)) return false;
    declared.set(prefix, namespace);
    return true;
  }

  /** Finds the namespaces of the attributes, whose names must differ also with them (Namespaces in XML 1.0, section 6.3). */
  #resolveAttributes(scope: Scope): boolean {
    const attributes = this.#attributes;
    if (attributes === undefined) return true;
    for (const attribute of attributes) {
      const { prefix, local } = attribute;
      if (prefix !== '') {
        const uri = prefix === 'xml' ? XML_NAMESPACE : scope.find(prefix);
        if (uri === undefined) return false;
        attribute.uri = uri;
      }
      for (const other of attributes) {
        if (other === attribute) break;
        if (other.local === local && other.uri === attribute.uri) return false;
      }
    }
    return true;
  }
}
