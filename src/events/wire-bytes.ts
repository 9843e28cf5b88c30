const AMPERSAND = 0x26;
const LESS_THAN = 0x3c;
const GREATER_THAN = 0x3e;
const CARRIAGE_RETURN = 0x0d;

/**
 * Counts the bytes that a text takes as character data of an XML document in UTF-8, with `&`, `<`, `>` and carriage returns
 * escaped: the measure in which `GET_EVENTS_MAX_BYTES` is promised.
 */
export function wireBytes(text: string): number {
  let bytes = Buffer.byteLength(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > GREATER_THAN) continue;
    if (code === AMPERSAND || code === CARRIAGE_RETURN) bytes += 4;
    else if (code === LESS_THAN || code === GREATER_THAN) bytes += 3;
  }
  return bytes;
}
