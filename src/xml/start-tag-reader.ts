import { attributeValue, isSpaceCode, nameEnd } from './characters';
import { Scope, type Attribute, type Tag } from './handler';

const GREATER = 0x3e;
const SLASH = 0x2f;
const COLON = 0x3a;
const EQUALS = 0x3d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/';

const MAX_ATTRIBUTES = 16;
const MAX_NAME_LENGTH = 256;

const NO_ATTRIBUTES: readonly Attribute[] = [];

/** Reads the start tags in an XML text, with their namespaces. It gives up on those that are wrong or not common. */
export class StartTagReader {
  readonly #xml: string;
  /** After a tag, the offset of its end. */
  position = 0;
  /** Whether the last tag was an empty-element tag: `<a/>`. */
  isEmpty = false;
  // Offsets of the last name and of its colon, or -1.
  #nameStart = 0;
  #colon = -1;
  // Of the last tag.
  #attributes: { -readonly [P in keyof Attribute]: Attribute[P] }[] | undefined;
  #declared: Map<string, string> | undefined;

  constructor(xml: string) {
    this.#xml = xml;
  }

  /** Reads the tag at an offset, with the declarations around it, unless it gives up. */
  read(start: number, outer: Scope): Tag | undefined {
    this.position = start + 1;
    if (!this.#readName()) return undefined;
    const xml = this.#xml;
    const colon = this.#colon;
    const end = this.position;
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
    const start = this.position;
    let end = nameEnd(xml, start);
    if (end === start) return false;
    this.#nameStart = start;
    this.#colon = -1;
    if (xml.charCodeAt(end) === COLON) {
      this.#colon = end;
      end = nameEnd(xml, end + 1);
      if (end === this.#colon + 1) return false;
    }
    this.position = end;
    return end - start <= MAX_NAME_LENGTH;
  }

  #readAttributes(): boolean {
    const xml = this.#xml;
    if (xml.charCodeAt(this.position) === GREATER) return this.#end(false);
    const next = xml.indexOf('<', this.position);
    const limit = next === -1 ? xml.length : next;
    for (let count = 0; count <= MAX_ATTRIBUTES; count++) {
      const before = this.position;
      while (isSpaceCode(xml.charCodeAt(this.position))) this.position++;
      const code = xml.charCodeAt(this.position);
      if (code === GREATER) return this.#end(false);
      if (code === SLASH) return xml.charCodeAt(++this.position) === GREATER && this.#end(true);
      if (this.position === before || !this.#readAttribute(limit)) return false;
    }
    return false;
  }

  #end(isEmpty: boolean): true {
    this.position++;
    this.isEmpty = isEmpty;
    return true;
  }

  /** @param limit - where the next tag starts; a value cannot have its `<`. */
  #readAttribute(limit: number): boolean {
    if (!this.#readName()) return false;
    const xml = this.#xml;
    const start = this.#nameStart;
    const colon = this.#colon;
    const end = this.position;
    if (xml.charCodeAt(end) !== EQUALS) return false;
    const quote = xml.charCodeAt(end + 1);
    if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) return false;
    const valueEnd = xml.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", end + 2);
    if (valueEnd === -1 || valueEnd > limit) return false;
    this.position = valueEnd + 1;
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
