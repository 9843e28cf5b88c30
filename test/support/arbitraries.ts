import * as fc from 'fast-check';

const codePoint = fc.oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }));

/**
 * Any code point but halves of surrogate pairs, as a unit of strings: fast-check's own unit `binary` takes two seconds of processor
 * time for each arbitrary that is made with it.
 */
export const anyCharacter = codePoint.map(
  (code) => String.fromCodePoint(code),
  (character) => (typeof character === 'string' ? character.codePointAt(0) : undefined) ?? NaN,
);
