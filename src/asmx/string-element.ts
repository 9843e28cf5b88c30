import { create } from 'xmlbuilder2';
import { XML_DECLARATION, builderText } from './xml';

/** Content type of an answer over HTTP GET or POST. */
export const STRING_CONTENT_TYPE = 'text/xml; charset=utf-8';

/** Writes the document that HTTP GET and POST answer with: one `string` element around the result. */
export type WriteString = (result: string) => string;

/** Makes the writer for a namespace. Its document is kept and gets a new text for each result. */
export function stringElement(namespace: string): WriteString {
  const element = create({ version: '1.0', encoding: 'utf-8' }).ele(builderText(namespace), 'string');
  return (result) => {
    element.node.textContent = builderText(result);
    const xml = element.toString({ spaceBeforeSlash: true });
    // A parser reads a bare carriage return as a line feed (XML 1.0, section 2.11).
    return `${XML_DECLARATION}\n${xml.replaceAll('\r', '&#xD;')}`;
  };
}
