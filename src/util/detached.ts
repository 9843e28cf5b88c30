/**
 * Copies a text that was cut from another one. V8 keeps a substring as a reference to the whole: without a copy, a short text
 * that is kept keeps a large message too.
 */
export function detached(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
