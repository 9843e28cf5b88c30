import { textElement, type WriteText } from '../xml/text-element';
import { XML_DECLARATION } from '../xml/xml';

/** Content type of the XML reply over HTTP GET and POST. */
export const STRING_CONTENT_TYPE = 'text/xml; charset=utf-8';

/** Makes the function that writes the reply over HTTP GET and POST: one `string` element around the result. */
export function stringElement(namespace: string): WriteText {
  const write = textElement(namespace, 'string');
  return (result) => `${XML_DECLARATION}\n${write(result)}`;
}
