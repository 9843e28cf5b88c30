/** The first line of every XML document of the service. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

/** The characters that XML 1.0 forbids (section 2.2, Char), and lone surrogates. */
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Replaces each character that XML 1.0 forbids with U+FFFD. */
export function xmlCharacters(text: string): string {
  return text.replace(FORBIDDEN, '\uFFFD');
}

/**
 * Prepares text for xmlbuilder2, which does not escape an ampersand that seems to begin a reference (`&x;`). With every
 * ampersand escaped before, the document says what the text says.
 */
export function builderText(text: string): string {
  return xmlCharacters(text).replaceAll('&', '&amp;');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** What may have to be written otherwise; halves of characters are rarely alone. */
const NOT_AS_IT_IS = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD]|[&<>]/;

/**
 * Writes a string as character data from which a parser reads the same string. Quotes stay as they are. A carriage return
 * becomes a reference, since a parser would read a line feed (XML 1.0, section 2.11).
 */
export function xmlText(text: string): string {
  if (!NOT_AS_IT_IS.test(text)) return text;
  return xmlCharacters(text).replace(/[&<>\r]/g, (character) => ENTITIES[character] ?? character);
}

/** Writes a string as the content of an attribute value in double quotes. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('"', '&quot;').replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;');
}

/** Removes white space as XML defines it at both ends. A regular expression would take quadratic time on long runs inside. */
export function withoutOuterSpace(text: string): string {
  let start = 0;
  let end = text.length;
  // Beyond an end there is no character, so neither loop leaves the text.
  while (isSpace(text.charCodeAt(start))) start++;
  while (isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
}
