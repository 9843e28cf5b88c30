/** Returns the forms in which a text may stand in JSON text: as it is, and as writers of JSON escape it inside a string. */
export function textForms(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  const inAscii = escaped.replace(/[^\0-\x7f]/g, unicodeEscape);
  const forms = [escaped, inAscii, escaped.replaceAll('/', '\\/'), inAscii.replaceAll('/', '\\/')];
  // JSON writes control characters and lone surrogates with escapes only.
  const canStandAsItIs = text.isWellFormed() && ![...text].some((character) => character < ' ');
  return [...new Set(canStandAsItIs ? [text, ...forms] : forms)];
}

/** Returns a pattern for JSON text with one of the forms of a text in it; ASCII letters match in either case. */
export function textPattern(text: string): RegExp {
  const alternatives = textForms(text).map((form) => form.replace(/[^]/g, characterPattern));
  return new RegExp(alternatives.join('|'));
}

function characterPattern(character: string): string {
  if (!/[a-z]/i.test(character)) return unicodeEscape(character);
  return `[${character.toLowerCase()}${character.toUpperCase()}]`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
