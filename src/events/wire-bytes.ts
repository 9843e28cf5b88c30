/** How many more bytes than itself a byte of a text in UTF-8 takes as character data of an XML document. */
const ADDED = new Uint8Array(256);
for (const [character, reference] of [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\r', '&#xD;'],
] as const) {
  ADDED[character.charCodeAt(0)] = reference.length - 1;
}

/**
 * Counts the bytes that a text takes as character data of an XML document in UTF-8, with `&`, `<`, `>` and carriage returns
 * escaped: the measure in which `GET_EVENTS_MAX_BYTES` is promised.
 */
export function wireBytes(text: string): number {
  const bytes = Buffer.from(text);
  return wireBytesBetween(bytes, 0, bytes.length);
}

/** As {@link wireBytes}, of the text in UTF-8 that begins at a place among some bytes and ends before another. */
export function wireBytesBetween(bytes: Uint8Array, start: number, end: number): number {
  let size = end - start;
  for (let i = start; i < end; i++) size += ADDED[bytes[i] ?? 0] ?? 0;
  return size;
}
