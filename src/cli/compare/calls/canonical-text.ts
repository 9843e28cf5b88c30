import { qualifiedName, type XmlElement } from '../../../xml/xml-tree';

/** Attributes and elements of SOAP whose value is a qualified name. */
const HOLD_NAMES = new Set(['faultcode', 'Value', 'qname']);

/**
 * Writes what a parser sees of a document: the same text for two documents that differ in prefixes, declarations, the order of
 * attributes, comments or white space between elements only.
 */
export function canonicalText(element: XmlElement): string {
  const attributes = element.attributes
    .map(({ uri, local, value }) => `{${uri}}${local}=${JSON.stringify(valueOf(local, value, element))}`)
    .sort();
  const hasChildren = element.content.some((child) => typeof child !== 'string');
  const content = element.content
    .filter((child) => typeof child !== 'string' || !hasChildren || child.trim() !== '')
    .map((child) =>
      typeof child === 'string' ? JSON.stringify(valueOf(element.name, child, element)) : canonicalText(child),
    );
  return `<{${element.namespace}}${[element.name, ...attributes].join(' ')}>${content.join('')}</>`;
}

function valueOf(holder: string, value: string, element: XmlElement): string {
  const found = HOLD_NAMES.has(holder) ? qualifiedName(value, element) : undefined;
  return found === undefined ? value : `{${found.namespace}}${found.name}`;
}
