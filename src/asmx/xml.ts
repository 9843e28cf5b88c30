/** First line of every XML document that the service writes. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

/** What XML 1.0 (section 2.2, production Char) forbids, lone surrogates included. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Replaces each character that no XML 1.0 document may hold with U+FFFD. */
export function xmlCharacters(text: string): string {
  return text.replace(FORBIDDEN, '\uFFFD');
}

/**
 * Prepares text for xmlbuilder2, which takes what looks like a reference (`&x;`) for one and leaves its ampersand alone:
 * where every ampersand is written as a reference before, it writes all of the text as it is meant.
 */
export function builderText(text: string): string {
  return xmlCharacters(text).replaceAll('&', '&amp;');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/**
 * Writes a string as character data: a parser reads back the same string. Quotes stay as they are. A carriage return is
 * written as a reference, or the parser would read a line feed (XML 1.0, section 2.11).
 */
export function xmlText(text: string): string {
  return xmlCharacters(text).replace(/[&<>\r]/g, (character) => ENTITIES[character] ?? character);
}

/** Writes a string as an attribute value between double quotes. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('"', '&quot;').replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;');
}
