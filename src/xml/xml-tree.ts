import { XmlError, type Attribute, type ElementName, type Tag } from './handler';
import { readWithSaxes } from './xml-reader';

/** An element of a document, with what is inside it in the order of the document. */
export class XmlElement implements ElementName {
  readonly namespace: string;
  readonly name: string;

  /** `start` and `end` are offsets in the text, in UTF-16 code units. */
  private constructor(
    private readonly tag: Tag,
    readonly start: number,
    public end: number,
    readonly content: (XmlElement | string)[] = [],
  ) {
    this.namespace = tag.uri;
    this.name = tag.local;
  }

  /** Reads XML 1.0 with namespaces, strictly. @throws {XmlError} */
  static read(text: string): XmlElement {
    const open: XmlElement[] = [];
    let root: XmlElement | undefined;
    readWithSaxes(text, {
      openElement(tag, start, end) {
        const element = new XmlElement(tag, start, end);
        open.at(-1)?.content.push(element);
        root ??= element;
        open.push(element);
      },
      addText(characters) {
        open.at(-1)?.content.push(characters);
      },
      closeElement(contentEnd) {
        const element = open.pop();
        // An empty-element tag has been read to its end.
        if (element !== undefined && text[element.end - 2] !== '/') element.end = text.indexOf('>', contentEnd) + 1;
      },
    });
    if (root === undefined) throw new XmlError('It is empty.');
    return root;
  }

  withContent(content: (XmlElement | string)[]): XmlElement {
    return new XmlElement(this.tag, this.start, this.end, content);
  }

  /** The attributes but for namespace declarations. */
  get attributes(): readonly Attribute[] {
    return this.tag.attributes;
  }

  attribute(name: string): string | undefined {
    return this.attributes.find(({ uri, local }) => uri === '' && local === name)?.value;
  }

  /** The child elements, all or those with a namespace and a name. */
  children(namespace?: string, name?: string): XmlElement[] {
    return this.content.filter(
      (child) =>
        typeof child !== 'string' &&
        (namespace === undefined || child.namespace === namespace) &&
        (name === undefined || child.name === name),
    ) as XmlElement[];
  }

  /** All text in it, that of the elements inside it included. */
  get text(): string {
    return this.content.map((child) => (typeof child === 'string' ? child : child.text)).join('');
  }

  /** Splits a qualified name in one of its attributes or in its text. Undefined if the prefix is not declared. */
  qualifiedName(text: string): ElementName | undefined {
    const [, prefix = '', name = ''] = /^\s*(?:([^\s:]+):)?([^\s:]+)\s*$/.exec(text) ?? [];
    const namespace = this.tag.scope.find(prefix) ?? (prefix === '' ? '' : undefined);
    return name === '' || namespace === undefined ? undefined : { namespace, name };
  }
}
