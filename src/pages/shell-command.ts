/** Characters that need no escape between double quotes in POSIX shells, PowerShell and cmd. */
export const SAFE = /^[A-Za-z0-9 \-._~:/?&=,;@+*()#]*$/;

/** The same with those of XML whose attributes are between apostrophes. */
export const SAFE_XML = /^[A-Za-z0-9 \-._~:/?&=,;@+*()#<>']*$/;

/** A command in one line for any shell. Undefined if a word of it would mean something else in one of them. */
export function command(program: string, words: readonly string[], safe = SAFE): string | undefined {
  // Options and names stand for themselves.
  const quoted = words.map((word) => (/^-{0,2}[A-Za-z][A-Za-z-]*$/.test(word) ? word : `"${word}"`));
  return words.every((word) => safe.test(word)) ? [program, ...quoted].join(' ') : undefined;
}
