/** Shortens a caller's text, to 200 characters by default, so that a message can quote it; `…` marks the cut. */
export function shortened(text: string, maxLength = 200): string {
  if (text.length <= maxLength) return text;
  // A surrogate pair that the cut divides is dropped.
  return `${text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Controls, marks of direction, separators, joiners, fillers, tags, lone surrogates; not the variation selectors of emoji. */
const INVISIBLE = /(?![\t\n]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces each invisible character except tabs and line feeds, by default with its escape in JSON; `place` is its offset. */
export function replaceInvisible(
  text: string,
  replacement: (character: string, place: number) => string = escaped,
): string {
  return text.replace(INVISIBLE, replacement);
}

function escaped(character: string): string {
  return character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Escapes the characters of a JSON text that JSON leaves as they are and a terminal does not show. */
export function visible(text: string): string {
  // JSON already escapes the characters before the space.
  return replaceInvisible(text, (character) => (character < ' ' ? character : escaped(character)));
}

/** Copies a text that was cut from another one, of which V8 keeps the whole otherwise. */
export function detached(text: string): string {
  // Decoded from UTF-8, an ASCII text takes one byte a character. UTF-8 cannot hold lone surrogates.
  const encoding = text.isWellFormed() ? 'utf8' : 'utf16le';
  return Buffer.from(text, encoding).toString(encoding);
}

const MAX_KEPT_TEXTS = 256;
const MAX_KEPT_LENGTH = 200;

/** Returns a function that keeps its results for up to 256 short texts, and forgets all to make room: senders repeat a few. */
export function memoized<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const kept = results.get(text);
    if (kept !== undefined || results.has(text)) return kept as T;
    const result = compute(text);
    if (text.length > MAX_KEPT_LENGTH) return result;
    if (results.size >= MAX_KEPT_TEXTS) results.clear();
    results.set(text, result);
    return result;
  };
}

const KIB = 1024;
const MIB = KIB * KIB;

/** Writes a number of bytes for a person: `640 B`, `12.3 KiB`, `4 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < KIB) return `${String(bytes)} B`;
  const [size, unit] = bytes < MIB ? [bytes / KIB, 'KiB'] : [bytes / MIB, 'MiB'];
  return `${String(Math.round(size * 10) / 10)} ${unit}`;
}

/** A text from elsewhere as a message shows it: shortened, on one line, its control characters escaped. */
export function oneLine(text: string): string {
  return visible(JSON.stringify(shortened(text)).slice(1, -1));
}
