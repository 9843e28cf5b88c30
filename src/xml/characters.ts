/** The predefined entities (XML 1.0, section 4.6). */
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** The longest reference that is resolved, without `&` and `;`. */
const MAX_LENGTH = 10;

/** Resolves the references in a text (XML 1.0, section 4.1). Undefined: one of them is wrong, or longer than those in use. */
export function resolved(text: string): string | undefined {
  let result = '';
  let from = 0;
  for (let start = text.indexOf('&'); start !== -1; start = text.indexOf('&', from)) {
    const end = text.indexOf(';', start);
    if (end === -1 || end - start > MAX_LENGTH) return undefined;
    const reference = text.slice(start + 1, end);
    const character = ENTITIES.get(reference) ?? numeric(reference);
    if (character === undefined) return undefined;
    result += text.slice(from, start) + character;
    from = end + 1;
  }
  return from === 0 ? text : result + text.slice(from);
}

/** The character of a numeric reference; undefined: it is none, or XML does not allow the character (section 2.2). */
function numeric(reference: string): string | undefined {
  const digits = /^#(?:x([\da-f]+)|(\d+))$/i.exec(reference);
  // The `x` is a small letter, the digits need not be.
  if (digits === null || reference.startsWith('#X')) return undefined;
  const [, hexadecimal, decimal] = digits;
  const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return isCharacter(code) ? String.fromCodePoint(code) : undefined;
}

function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

/** Writes every end of a line as a line feed (XML 1.0, section 2.11). */
export function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

const SPECIAL_IN_VALUE = /[&\t\n\r]/;

/** The value of an attribute, from what stands between its quotes (XML 1.0, section 3.3.3). Undefined as in {@link resolved}. */
export function attributeValue(raw: string): string | undefined {
  return SPECIAL_IN_VALUE.test(raw) ? resolved(raw.replace(/\r\n|[\t\n\r]/g, ' ')) : raw;
}

/** Characters that XML 1.0 forbids (section 2.2, Char), besides surrogates that do not stand in pairs. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** Whether XML allows every character of a text from a place on. */
export function hasOnlyCharacters(text: string, from = 0): boolean {
  FORBIDDEN.lastIndex = from;
  return text.isWellFormed() && !FORBIDDEN.test(text);
}

/** Whether a text is white space, as XML defines it, or empty. */
export function isSpace(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isSpaceCode(text.charCodeAt(i))) return false;
  return true;
}

export function isSpaceCode(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
