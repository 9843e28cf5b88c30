import { SaxesParser, type SaxesAttributeNS } from 'saxes';

/** An element of a document, with what is inside it in the order of the document. */
export interface XmlElement {
  readonly namespace: string;
  readonly name: string;
  /** Those without namespace declarations. */
  readonly attributes: readonly SaxesAttributeNS[];
  readonly content: readonly (XmlElement | string)[];
  /** The namespace that a prefix stands for here, if any. */
  readonly namespaceOf: (prefix: string) => string | undefined;
}

/** Thrown where a text is not XML that can be read; the message is one sentence. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 100_000;
const XMLNS = 'http://www.w3.org/2000/xmlns/';

/**
 * Reads XML 1.0 with namespaces, strictly.
 *
 * @throws {XmlError} it is not well-formed, has a document type declaration, more than 100 levels or more than 100,000
 *   elements.
 */
export function readXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const open: (XmlElement & { content: (XmlElement | string)[] })[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  parser.on('doctype', () => {
    throw new XmlError('It has a document type declaration.');
  });
  parser.on('opentag', ({ uri, local, attributes, ns }) => {
    if (open.length === MAX_DEPTH) throw new XmlError(`It has more than ${String(MAX_DEPTH)} levels.`);
    if (++elements > MAX_ELEMENTS) throw new XmlError(`It has more than ${String(MAX_ELEMENTS)} elements.`);
    const parent = open.at(-1);
    const own = new Map(Object.entries(ns));
    const element = {
      namespace: uri,
      name: local,
      attributes: Object.values(attributes).filter((attribute) => attribute.uri !== XMLNS),
      content: [],
      namespaceOf: (prefix: string) => own.get(prefix) ?? parent?.namespaceOf(prefix),
    };
    parent?.content.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  const add = (characters: string): void => {
    open.at(-1)?.content.push(characters);
  };
  parser.on('text', add);
  parser.on('cdata', add);
  try {
    parser.write(text).close();
  } catch (error) {
    if (error instanceof XmlError) throw error;
    throw new XmlError(`It is not well-formed XML: ${(error as Error).message}`);
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
export function qualifiedName(
  text: string,
  { namespaceOf }: Pick<XmlElement, 'namespaceOf'>,
): { readonly namespace: string; readonly name: string } | undefined {
  const [, prefix = '', name = ''] = /^\s*(?:([^\s:]+):)?([^\s:]+)\s*$/.exec(text) ?? [];
  const namespace = namespaceOf(prefix) ?? (prefix === '' ? '' : undefined);
  return name === '' || namespace === undefined ? undefined : { namespace, name };
}
