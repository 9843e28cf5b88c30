import { SaxesParser, type SaxesTagNS } from 'saxes';
import { NO_DECLARATIONS, Scope, type Attribute, type Tag, type XmlHandler } from './handler';

/** Called for parts of a document as soon as they are read, before their element. What they throw ends the reading. */
export interface SaxesGuards {
  readonly addDoctype: () => void;
  /** Called with the name of an attribute and the number of attributes that its tag has so far. */
  readonly addAttribute?: (name: string, count: number) => void;
}

/** Reads an XML 1.0 document with `saxes`, in parts: `write` for each part, then `close`. */
export class SaxesReader {
  readonly #parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true });
  readonly #xml: string;
  readonly #handler: XmlHandler;
  #attributes = 0;
  /** The scopes of the open elements, outermost first. */
  readonly #scopes: Scope[] = [];

  /**
   * The parser keeps its handlers as properties. With more than six V8 turns it into a dictionary, and reading takes four
   * times as long. So there is no handler for errors, which the parser then throws, and none for the beginning of a start tag.
   *
   * @param xml - the whole document.
   */
  constructor(xml: string, handler: XmlHandler, { addDoctype, addAttribute }: SaxesGuards) {
    const parser = this.#parser;
    this.#xml = xml;
    this.#handler = handler;
    parser.on('doctype', addDoctype);
    if (addAttribute !== undefined) {
      parser.on('attribute', ({ name }) => {
        addAttribute(name, ++this.#attributes);
      });
    }
    parser.on('opentag', (tag) => {
      this.#openElement(tag);
    });
    parser.on('closetag', ({ isSelfClosing }) => {
      this.#scopes.pop();
      const { position } = parser;
      handler.closeElement(isSelfClosing ? position : xml.lastIndexOf('</', position - 1));
    });
    const addText = (text: string): void => {
      handler.addText(text);
    };
    parser.on('text', addText);
    parser.on('cdata', addText);
  }

  /**
   * Reads the next part of the document.
   *
   * @throws {Error} what is wrong with the document so far; the message begins with the line and the column.
   */
  write(part: string): void {
    this.#parser.write(part);
  }

  /**
   * Ends the document.
   *
   * @throws {Error} it ends too early.
   */
  close(): void {
    this.#parser.close();
  }

  #openElement(tag: SaxesTagNS): void {
    this.#attributes = 0;
    const scope = scopeOf(tag, this.#scopes.at(-1) ?? NO_DECLARATIONS);
    this.#scopes.push(scope);
    const end = this.#parser.position;
    // An attribute value cannot hold this character.
    this.#handler.openElement(tagOf(tag, scope), this.#xml.lastIndexOf('<', end - 1), end);
  }
}

function scopeOf({ ns }: SaxesTagNS, outer: Scope): Scope {
  const declared = Object.entries(ns);
  return declared.length === 0 ? outer : new Scope(new Map(declared), outer);
}

function tagOf({ name, prefix, local, uri, attributes }: SaxesTagNS, scope: Scope): Tag {
  const others: Attribute[] = [];
  for (const attribute of Object.values(attributes)) {
    if (attribute.prefix !== 'xmlns' && attribute.name !== 'xmlns') others.push(attribute);
  }
  return { name, prefix, local, uri, attributes: others, scope };
}
