import { isNameCharacter } from '../../xml/names';

/** The longest prefix that is looked for; no name in a message is longer. */
const MAX_LENGTH = 1024;

/** Calls back with each name before a colon in a text, in one pass over the text. */
export function forEachPrefix(text: string, found: (prefix: string) => void): void {
  let searched = 0;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', searched)) {
    const start = nameStart(text, searched, colon);
    if (start < colon && colon - start <= MAX_LENGTH) found(text.slice(start, colon));
    searched = colon + 1;
  }
}

/** Where the name that ends at a place begins. */
function nameStart(text: string, from: number, end: number): number {
  let start = end;
  while (start > from) {
    const length = nameCharacterBefore(text, start);
    if (length === 0 || start - length < from) break;
    start -= length;
  }
  return start;
}

/** How many UTF-16 code units the name character before a place has; 0: the character there is not one. */
function nameCharacterBefore(text: string, place: number): 0 | 1 | 2 {
  const code = text.charCodeAt(place - 1);
  if (code < 128) return isNameCharacter(code) ? 1 : 0;
  // NameChar goes up to U+EFFFF, the last of which begins with U+DB7F.
  if (isLowSurrogate(code)) return isHighSurrogate(text.charCodeAt(place - 2)) ? 2 : 0;
  return NAME_CHARACTERS.some(([first, last]) => first <= code && code <= last) ? 1 : 0;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdb7f;
}

/** XML 1.0, fifth edition, production NameChar, beyond ASCII and up to U+FFFD: first and last code point of each range. */
const NAME_CHARACTERS: readonly (readonly [first: number, last: number])[] = [
  [0xb7, 0xb7],
  [0xc0, 0xd6],
  [0xd8, 0xf6],
  [0xf8, 0x37d],
  [0x37f, 0x1fff],
  [0x200c, 0x200d],
  [0x203f, 0x2040],
  [0x2070, 0x218f],
  [0x2c00, 0x2fef],
  [0x3001, 0xd7ff],
  [0xf900, 0xfdcf],
  [0xfdf0, 0xfffd],
];
