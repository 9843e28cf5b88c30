import { textElement, type WriteText } from './text-element';
import { XML_DECLARATION } from './xml';

/** Content type of an answer over HTTP GET or POST. */
export const STRING_CONTENT_TYPE = 'text/xml; charset=utf-8';

/** Makes the writer of the document that HTTP GET and POST answer with: one `string` element around the result. */
export function stringElement(namespace: string): WriteText {
  const write = textElement(namespace, 'string');
  return (result) => `${XML_DECLARATION}\n${write(result)}`;
}
