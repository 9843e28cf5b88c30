import type { Element } from '@oozcitak/dom/lib/dom/interfaces';
import { create } from 'xmlbuilder2';
import { xmlCharacters, xmlText } from './characters';

/**
 * Prepares text for xmlbuilder2, which does not escape an ampersand that seems to begin a reference (`&x;`). With every
 * ampersand escaped before, the document says what the text says.
 */
export function builderText(text: string): string {
  return xmlCharacters(text).replaceAll('&', '&amp;');
}

/** Writes a text inside one or more elements. */
export type WriteText = (text: string) => string;

/**
 * Makes a writer for a text inside nested elements of one namespace, named from the outermost to the innermost. The tags are
 * made only once. An empty text makes the innermost element an empty-element tag.
 */
export function textElement(namespace: string, ...names: readonly string[]): WriteText {
  const root = names.reduce((parent, name) => parent.ele(builderText(namespace), name), create()).root();
  const empty = root.toString({ spaceBeforeSlash: true });
  const tags = root.toString({ allowEmptyTags: true });
  // A start tag cannot hold this, since attribute values are escaped.
  const end = tags.indexOf('</');
  const [before, after] = [tags.slice(0, end), tags.slice(end)];
  return (text) => (text === '' ? empty : before + xmlText(text) + after);
}

/** The child elements with a namespace and, if it is given, a local name. (The library's `children` also has what is deeper.) */
export function childElements(parent: Element, namespace: string, localName?: string): Element[] {
  const found: Element[] = [];
  for (let child = parent.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.namespaceURI === namespace && (localName === undefined || child.localName === localName))
      found.push(child);
  }
  return found;
}
