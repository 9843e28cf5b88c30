import { XmlElement } from '../../src/xml/xml-tree';

/** The elements of an XML document with this local name, or all, read by a strict parser. */
export function elementsIn(xml: string, name?: string): XmlElement[] {
  const all = (element: XmlElement): XmlElement[] => [element, ...element.children().flatMap(all)];
  return all(XmlElement.read(xml)).filter((element) => name === undefined || element.name === name);
}

/** The text between the tags of an XML document, read by a strict parser. */
export function parsedText(xml: string): string {
  return XmlElement.read(xml).text;
}
