import { hasOnlyCharacters, isSpace, isSpaceCode, resolved, withLineFeeds } from './characters';
import { checkElements, NO_DECLARATIONS, type Tag, type XmlHandler } from './handler';
import { StartTagReader } from './start-tag-reader';

const LESS = 0x3c;
const GREATER = 0x3e;
const SLASH = 0x2f;
const BANG = 0x21;

const COMMENT = '<!--';
const CDATA = '<![CDATA[';
const CDATA_END = ']]>';

const GAVE_UP = -1;

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
  readonly #startTags: StartTagReader;
  readonly #hasReferences: boolean;
  readonly #hasCdataEnd: boolean;
  readonly #open: Tag[] = [];
  #elements = 0;

  constructor(xml: string, handler: XmlHandler) {
    this.#xml = xml;
    this.#handler = handler;
    this.#startTags = new StartTagReader(xml);
    this.#hasReferences = xml.includes('&');
    this.#hasCdataEnd = xml.includes(CDATA_END);
  }

  /** Returns whether it got to the end. @throws {XmlError} a limit is exceeded. */
  read(): boolean {
    const xml = this.#xml;
    if (!hasOnlyCharacters(xml)) return false;
    for (let end = DECLARATION.exec(xml)?.[0].length ?? 0; ;) {
      const start = xml.charCodeAt(end) === LESS ? end : xml.indexOf('<', end);
      const isLast = start === -1;
      if (isLast && this.#open.length > 0) return false;
      if (!this.#readText(end, isLast ? xml.length : start)) return false;
      if (isLast) return this.#elements > 0;
      end = this.#readMarkup(start);
      if (end === GAVE_UP) return false;
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

  /** Returns the offset of the end of a tag, a comment or a CDATA section. */
  #readMarkup(start: number): number {
    const code = this.#xml.charCodeAt(start + 1);
    if (code === SLASH) return this.#readEndTag(start);
    if (code !== BANG) return this.#readStartTag(start);
    return this.#xml.startsWith(COMMENT, start) ? this.#commentEnd(start) : this.#readCdata(start);
  }

  #readStartTag(start: number): number {
    const tags = this.#startTags;
    const outer = this.#open.at(-1);
    if (outer === undefined && this.#elements > 0) return GAVE_UP;
    const tag = tags.read(start, outer?.scope ?? NO_DECLARATIONS);
    if (tag === undefined) return GAVE_UP;
    const { position: end, isEmpty } = tags;
    checkElements(++this.#elements, this.#open.length + 1);
    this.#handler.openElement(tag, start, end);
    if (isEmpty) this.#handler.closeElement(end);
    else this.#open.push(tag);
    return end;
  }

  #readEndTag(start: number): number {
    const xml = this.#xml;
    const name = this.#open.pop()?.name;
    if (name === undefined || !xml.startsWith(name, start + 2)) return GAVE_UP;
    let end = start + 2 + name.length;
    while (isSpaceCode(xml.charCodeAt(end))) end++;
    if (xml.charCodeAt(end) !== GREATER) return GAVE_UP;
    this.#handler.closeElement(start);
    return end + 1;
  }

  #commentEnd(start: number): number {
    const end = this.#xml.indexOf('--', start + COMMENT.length);
    return end !== -1 && this.#xml.charCodeAt(end + 2) === GREATER ? end + 3 : GAVE_UP;
  }

  #readCdata(start: number): number {
    if (!this.#xml.startsWith(CDATA, start) || this.#open.length === 0) return GAVE_UP;
    const from = start + CDATA.length;
    const end = this.#xml.indexOf(CDATA_END, from);
    if (end === -1) return GAVE_UP;
    this.#handler.addText(withLineFeeds(this.#xml.slice(from, end)));
    return end + CDATA_END.length;
  }
}
