import { replaceInvisible } from './invisible';

/** Escapes the characters of a text that JSON would leave as they are and a terminal does not show. */
export function visible(text: string): string {
  // JSON escapes those before the space itself.
  return replaceInvisible(text, (character) => (character < ' ' ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
