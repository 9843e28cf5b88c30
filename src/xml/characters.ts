import { create } from 'xmlbuilder2';

/** The predefined entities (XML 1.0, section 4.6). */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }),
);

const MAX_REFERENCE_LENGTH = 10;

/** Resolves the references in a text (XML 1.0, section 4.1), unless one of them is wrong or longer than those in use. */
export function resolved(text: string): string | undefined {
  let result = '';
  let from = 0;
  for (let start = text.indexOf('&'); start !== -1; start = text.indexOf('&', from)) {
    const end = text.indexOf(';', start);
    if (end === -1 || end - start > MAX_REFERENCE_LENGTH) return undefined;
    const reference = text.slice(start + 1, end);
    const character = ENTITIES.get(reference) ?? numeric(reference);
    if (character === undefined) return undefined;
    result += text.slice(from, start) + character;
    from = end + 1;
  }
  return from === 0 ? text : result + text.slice(from);
}

/** The character of a numeric reference, if XML allows it (section 2.2). */
function numeric(reference: string): string | undefined {
  if (!NUMERIC.test(reference)) return undefined;
  // `0x41` is hexadecimal, and `065` decimal.
  const code = Number(`0${reference.slice(1)}`);
  if (code > MAX_CODE) return undefined;
  const character = String.fromCodePoint(code);
  return hasOnlyCharacters(character) ? character : undefined;
}

const NUMERIC = /^#(?:x[\da-fA-F]+|\d+)$/;
const MAX_CODE = 0x10ffff;

/** Writes every end of a line as a line feed (XML 1.0, section 2.11). */
export function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

const SPECIAL_IN_VALUE = /[&<\t\n\r]/;

/** The value of an attribute, from what stands between its quotes (XML 1.0, section 3.3.3). As {@link resolved}, unless it has a `<`. */
export function attributeValue(raw: string): string | undefined {
  if (!SPECIAL_IN_VALUE.test(raw)) return raw;
  return raw.includes('<') ? undefined : resolved(raw.replace(/\r\n|[\t\n\r]/g, ' '));
}

/** The characters that XML 1.0 forbids (section 2.2, Char), apart from lone surrogates. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

export function hasOnlyCharacters(text: string): boolean {
  return text.isWellFormed() && text.search(FORBIDDEN) === -1;
}

function xmlCharacters(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '\uFFFD');
}

export function isSpaceCode(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Whether a text is white space, as XML defines it, or empty. */
export function isSpace(text: string): boolean {
  return !/[^\t\n\r ]/.test(text);
}

/** For each ASCII character: whether a name can begin with it, or only go on with it. */
const BEGINS_NAME = 2;
const GOES_ON = 1;
const IN_NAMES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(character)) return BEGINS_NAME;
  return /[\d.-]/.test(character) ? GOES_ON : 0;
});

/** The end of the ASCII name without a colon that begins at `start`; `start` itself if none begins there. */
export function nameEnd(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (!(first < IN_NAMES.length && IN_NAMES[first] === BEGINS_NAME)) return start;
  let end = start + 1;
  while (isNameCharacter(text.charCodeAt(end))) end++;
  return end;
}

export function isNameCharacter(code: number): boolean {
  return code < IN_NAMES.length && IN_NAMES[code] !== 0;
}

/** The first line of every XML document of the service. */
export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

/** Surrogates are among them: one that stands alone is replaced, and pairs are rare. */
const MAY_NEED_ESCAPE = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD]|[&<>]/;

/**
 * Writes a string as character data from which a parser reads the same string: a carriage return becomes a reference (XML 1.0,
 * section 2.11). What XML forbids becomes U+FFFD.
 */
export function xmlText(text: string): string {
  if (!MAY_NEED_ESCAPE.test(text)) return text;
  return xmlCharacters(text).replace(/[&<>\r]/g, (character) => REFERENCES[character] ?? character);
}

/** Writes a string as the content of an attribute value in double quotes. */
export function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('"', '&quot;').replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;');
}

/** Prepares text for xmlbuilder2, which does not escape an ampersand that seems to begin a reference (`&x;`). */
export function builderText(text: string): string {
  return xmlCharacters(text).replaceAll('&', '&amp;');
}

/** Returns a function that writes a text inside nested elements of one namespace; an empty text as an empty-element tag. */
export function textElement(namespace: string, ...names: readonly string[]): (text: string) => string {
  const root = names.reduce((parent, name) => parent.ele(builderText(namespace), name), create()).root();
  const empty = root.toString({ spaceBeforeSlash: true });
  const tags = root.toString({ allowEmptyTags: true });
  // A start tag cannot hold this, since attribute values are escaped.
  const end = tags.indexOf('</');
  const [before, after] = [tags.slice(0, end), tags.slice(end)];
  return (text) => (text === '' ? empty : before + xmlText(text) + after);
}
