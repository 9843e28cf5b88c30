/** How many characters of a caller's text a message quotes. */
const MAX_LENGTH = 200;

/** Shortens a caller's text, to about 200 characters by default, so that a message can quote it; `…` shows that it was longer. */
export function shortened(text: string, maxLength = MAX_LENGTH): string {
  if (text.length <= maxLength) return text;
  // A character that is cut in two is left out.
  return `${text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
