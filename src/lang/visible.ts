/** Characters that JSON does not escape and a terminal does not show as they stand: controls, line separators, writing direction. */
const INVISIBLE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Escapes the characters of a text that JSON would leave as they are and a terminal does not show. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
