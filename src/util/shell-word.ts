/** Quotes a word for a POSIX shell; a single quote inside it ends the quoting, is escaped, and starts it again. */
export function shellWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
