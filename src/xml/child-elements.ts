import type { Element } from '@oozcitak/dom/lib/dom/interfaces';

/** The child elements with a namespace and, if it is given, a local name. (The library's `children` also has what is deeper.) */
export function childElements(parent: Element, namespace: string, localName?: string): Element[] {
  const found: Element[] = [];
  for (let child = parent.firstElementChild; child !== null; child = child.nextElementSibling) {
    if (child.namespaceURI === namespace && (localName === undefined || child.localName === localName))
      found.push(child);
  }
  return found;
}
