import {
  attributeValue,
  hasOnlyCharacters,
  isSpace,
  isSpaceCode,
  nameEnd,
  resolved,
  withLineFeeds,
} from './characters';
import { checkElements, NO_DECLARATIONS, Scope, type Attribute, type Tag, type XmlHandler } from './handler';

const LESS = 0x3c;
const GREATER = 0x3e;
const SLASH = 0x2f;
const BANG = 0x21;
const COLON = 0x3a;

const COMMENT = '<!--';
const CDATA = '<![CDATA[';
const CDATA_END = ']]>';

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

const MAX_ATTRIBUTES = 16;
const MAX_NAME_LENGTH = 256;

const NO_ATTRIBUTES: readonly Attribute[] = [];

const DECLARATION =
  /^<\?xml +version=(?:"1\.\d+"|'1\.\d+')(?: +encoding=(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?: +standalone=(?:"(?:yes|no)"|'(?:yes|no)'))? *\?>/;

/**
 * Reads common XML as strictly as `saxes`, in a fraction of its time. It leaves to `saxes`, which then judges the document:
 * - what is not well-formed, names a prefix that is not declared, or has a forbidden character or half of a surrogate pair;
 * - document type declarations and processing instructions, but for an XML declaration in its usual form;
 * - names that are not ASCII or longer than 256 characters, and elements with more than 16 attributes;
 * - references of more than 10 characters, and declarations of the namespaces of `xml` and `xmlns`.
 *
 * `scripts/fuzz/envelopes.mjs` compares the two.
 */
export class CommonXmlReader {
  readonly #xml: string;
  readonly #handler: XmlHandler;
  readonly #hasReferences: boolean;
  readonly #hasCdataEnd: boolean;
  readonly #open: Tag[] = [];
  #elements = 0;
  /** The offset after what has been read. */
  #at = 0;
  /** The offset of the colon in the last name, or -1. */
  #colon = -1;
  // Of the last start tag.
  #attributes: { -readonly [P in keyof Attribute]: Attribute[P] }[] | undefined;
  #declared: Map<string, string> | undefined;

  constructor(xml: string, handler: XmlHandler) {
    this.#xml = xml;
    this.#handler = handler;
    this.#hasReferences = xml.includes('&');
    this.#hasCdataEnd = xml.includes(CDATA_END);
  }

  /** Returns whether it got to the end. @throws {XmlError} a limit is exceeded. */
  read(): boolean {
    const xml = this.#xml;
    if (!hasOnlyCharacters(xml)) return false;
    this.#at = DECLARATION.exec(xml)?.[0].length ?? 0;
    for (;;) {
      const from = this.#at;
      const start = xml.charCodeAt(from) === LESS ? from : xml.indexOf('<', from);
      if (start === -1) return this.#open.length === 0 && this.#elements > 0 && this.#readText(from, xml.length);
      if (!this.#readText(from, start) || !this.#readMarkup(start)) return false;
    }
  }

  #readText(start: number, end: number): boolean {
    if (start === end) return true;
    const raw = this.#xml.slice(start, end);
    if (this.#open.length === 0) return isSpace(raw);
    if (this.#hasCdataEnd && raw.includes(CDATA_END)) return false;
    const text = this.#hasReferences ? resolved(withLineFeeds(raw)) : withLineFeeds(raw);
    if (text === undefined) return false;
    this.#handler.addText(text);
    return true;
  }

  /** Reads a tag, a comment or a CDATA section. */
  #readMarkup(start: number): boolean {
    const code = this.#xml.charCodeAt(start + 1);
    if (code === SLASH) return this.#readEndTag(start);
    if (code !== BANG) return this.#readStartTag(start);
    return this.#xml.startsWith(COMMENT, start) ? this.#readComment(start) : this.#readCdata(start);
  }

  #readEndTag(start: number): boolean {
    const xml = this.#xml;
    const name = this.#open.pop()?.name;
    if (name === undefined || !xml.startsWith(name, start + 2)) return false;
    let end = start + 2 + name.length;
    while (isSpaceCode(xml.charCodeAt(end))) end++;
    if (xml.charCodeAt(end) !== GREATER) return false;
    this.#at = end + 1;
    this.#handler.closeElement(start);
    return true;
  }

  #readComment(start: number): boolean {
    const end = this.#xml.indexOf('--', start + COMMENT.length);
    this.#at = end + 3;
    return end !== -1 && this.#xml.charCodeAt(end + 2) === GREATER;
  }

  #readCdata(start: number): boolean {
    const from = start + CDATA.length;
    const end = this.#xml.indexOf(CDATA_END, from);
    if (!this.#xml.startsWith(CDATA, start) || this.#open.length === 0 || end === -1) return false;
    this.#at = end + CDATA_END.length;
    this.#handler.addText(withLineFeeds(this.#xml.slice(from, end)));
    return true;
  }

  #readStartTag(start: number): boolean {
    const outer = this.#open.at(-1);
    if (outer === undefined && this.#elements > 0) return false;
    const tag = this.#startTag(start, outer?.scope ?? NO_DECLARATIONS);
    if (tag === undefined) return false;
    const end = this.#at;
    checkElements(++this.#elements, this.#open.length + 1);
    this.#handler.openElement(tag, start, end);
    const isEmptyTag = this.#xml.charCodeAt(end - 2) === SLASH;
    if (isEmptyTag) this.#handler.closeElement(end);
    else this.#open.push(tag);
    return true;
  }

  /** Reads the tag at an offset, with the declarations around it, unless it gives up. */
  #startTag(start: number, outer: Scope): Tag | undefined {
    const xml = this.#xml;
    this.#at = start + 1;
    if (!this.#readName()) return undefined;
    const colon = this.#colon;
    const end = this.#at;
    const name = xml.slice(start + 1, end);
    this.#attributes = undefined;
    this.#declared = undefined;
    if (!this.#readAttributes()) return undefined;
    const scope = this.#declared === undefined ? outer : new Scope(this.#declared, outer);
    if (!this.#resolveAttributes(scope)) return undefined;
    const attributes = this.#attributes ?? NO_ATTRIBUTES;
    if (colon === -1) return { name, local: name, uri: scope.defaultNamespace, attributes, scope };
    const uri = scope.find(xml.slice(start + 1, colon));
    return uri === undefined ? undefined : { name, local: xml.slice(colon + 1, end), uri, attributes, scope };
  }

  #readName(): boolean {
    const xml = this.#xml;
    const start = this.#at;
    let end = nameEnd(xml, start);
    if (end === start) return false;
    this.#colon = -1;
    if (xml.charCodeAt(end) === COLON) {
      this.#colon = end;
      end = nameEnd(xml, end + 1);
      if (end === this.#colon + 1) return false;
    }
    this.#at = end;
    return end - start <= MAX_NAME_LENGTH;
  }

  /** Reads the rest of a start tag after its name. */
  #readAttributes(): boolean {
    const xml = this.#xml;
    for (let count = 0; count <= MAX_ATTRIBUTES; count++) {
      const before = this.#at;
      let at = before;
      while (isSpaceCode(xml.charCodeAt(at))) at++;
      const end = xml.charCodeAt(at) === SLASH ? at + 1 : at;
      if (xml.charCodeAt(end) === GREATER) {
        this.#at = end + 1;
        return true;
      }
      this.#at = at;
      if (at === before || !this.#readAttribute()) return false;
    }
    return false;
  }

  #readAttribute(): boolean {
    const xml = this.#xml;
    const start = this.#at;
    if (!this.#readName()) return false;
    const colon = this.#colon;
    const end = this.#at;
    const quote = xml.charAt(end + 1);
    if (xml.charAt(end) !== '=' || (quote !== '"' && quote !== "'")) return false;
    const valueEnd = xml.indexOf(quote, end + 2);
    if (valueEnd === -1) return false;
    this.#at = valueEnd + 1;
    const value = attributeValue(xml.slice(end + 2, valueEnd));
    if (value === undefined) return false;
    const name = xml.slice(start, end);
    if (name === 'xmlns') return this.#declare('', value.trim());
    const prefix = colon === -1 ? '' : xml.slice(start, colon);
    const local = colon === -1 ? name : xml.slice(colon + 1, end);
    if (prefix === 'xmlns') return this.#declare(local, value.trim());
    (this.#attributes ??= []).push({ prefix, local, uri: '', value });
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
