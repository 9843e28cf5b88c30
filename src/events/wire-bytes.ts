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
  return wireBytesIn(Buffer.from(text));
}

/** As {@link wireBytes}, of a text in UTF-8. */
export function wireBytesIn(utf8: Uint8Array): number {
  let size = utf8.length;
  for (let i = 0; i < utf8.length; i++) size += ADDED[utf8[i] ?? 0] ?? 0;
  return size;
}
