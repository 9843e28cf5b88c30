import { atOnce } from '../util/promises';
import type { Attribute, ElementName, XmlHandler } from './handler';
import { readWithSaxes, XmlSyntaxError } from './xml-reader';

/** An element of a document, with what is inside it in the order of the document. */
export interface XmlElement extends ElementName {
  /** Those without namespace declarations. */
  readonly attributes: readonly Attribute[];
  readonly content: readonly (XmlElement | string)[];
  /** Offsets of its beginning and end in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** The namespace that a prefix stands for here, if any. */
  readonly namespaceOf: (prefix: string) => string | undefined;
}

/** Thrown for a text that is not XML or exceeds a limit; the message is one sentence. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 100_000;

/**
 * Reads XML 1.0 with namespaces, strictly.
 *
 * @throws {XmlError} it is not well-formed, has a document type declaration, more than 100 levels or more than 100,000
 *   elements.
 */
export function readXml(text: string): XmlElement {
  const open: (XmlElement & { content: (XmlElement | string)[]; end: number })[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  const handler: XmlHandler = {
    openElement({ uri, local, attributes, scope }, start, end) {
      if (open.length === MAX_DEPTH) throw new XmlError(`It has more than ${String(MAX_DEPTH)} levels.`);
      if (++elements > MAX_ELEMENTS) throw new XmlError(`It has more than ${String(MAX_ELEMENTS)} elements.`);
      const namespaceOf = (prefix: string) => scope.find(prefix);
      const element = { namespace: uri, name: local, attributes, content: [], start, end, namespaceOf };
      open.at(-1)?.content.push(element);
      root ??= element;
      open.push(element);
    },
    addText(characters) {
      open.at(-1)?.content.push(characters);
    },
    closeElement(contentEnd) {
      const element = open.pop();
      const isEmptyTag = (end: number) => text[end - 2] === '/';
      if (element !== undefined && !isEmptyTag(element.end)) element.end = text.indexOf('>', contentEnd) + 1;
    },
    addDoctype() {
      throw new XmlError('It has a document type declaration.');
    },
  };
  try {
    atOnce(readWithSaxes(text, handler));
  } catch (error) {
    throw error instanceof XmlSyntaxError ? new XmlError(`It is not well-formed XML: ${error.message}`) : error;
  }
  if (root === undefined) throw new XmlError('It is empty.');
  return root;
}

/** The child elements, all or those with a namespace and a name. */
export function childrenOf(element: XmlElement, namespace?: string, name?: string): XmlElement[] {
  return element.content.filter(
    (child) =>
      typeof child !== 'string' &&
      (namespace === undefined || child.namespace === namespace) &&
      (name === undefined || child.name === name),
  ) as XmlElement[];
}

/** The value of an attribute without a namespace. */
export function attributeOf(element: XmlElement, name: string): string | undefined {
  return element.attributes.find(({ uri, local }) => uri === '' && local === name)?.value;
}

/** All text in an element, that of the elements inside it included. */
export function textContent({ content }: XmlElement): string {
  return content.map((child) => (typeof child === 'string' ? child : textContent(child))).join('');
}

/** Splits a qualified name in an attribute or a text of an element. Undefined if its prefix is not declared. */
export function qualifiedName(text: string, { namespaceOf }: XmlElement): ElementName | undefined {
  const [, prefix = '', name = ''] = /^\s*(?:([^\s:]+):)?([^\s:]+)\s*$/.exec(text) ?? [];
  const namespace = namespaceOf(prefix) ?? (prefix === '' ? '' : undefined);
  return name === '' || namespace === undefined ? undefined : { namespace, name };
}
