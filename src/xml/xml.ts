import { xmlCharacters } from './characters';

/** The first line of every XML document of the service. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** Finds in one pass whether a text can be written as it is; halves of characters are rarely alone. */
const NOT_AS_IT_IS = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD]|[&<>]/;

/**
 * Writes a string as character data from which a parser reads the same string. Quotes stay as they are. A carriage return
 * becomes a reference, since a parser would read a line feed (XML 1.0, section 2.11). What XML forbids becomes U+FFFD.
 */
export function xmlText(text: string): string {
  if (!NOT_AS_IT_IS.test(text)) return text;
  return xmlCharacters(text).replace(/[&<>\r]/g, (character) => ENTITIES[character] ?? character);
}

/** Writes a string as the content of an attribute value in double quotes. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('"', '&quot;').replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;');
}
