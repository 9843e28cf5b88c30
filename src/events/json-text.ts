const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/**
 * The text of the value that a member of a JSON object has, as it was written: its numbers keep their digits. Where the
 * name stands twice the last one counts, as for `JSON.parse`. The text must be a valid JSON object.
 */
export function memberText(json: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  let key: string | undefined;
  let start = json.indexOf('{') + 1;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) i = endOfString(json, i);
    else if (OPENING.has(code)) depth++;
    else if (CLOSING.has(code)) depth--;
    const ended = depth === 0 && CLOSING.has(code);
    if (depth === 1 && code === COLON) {
      key = JSON.parse(json.slice(start, i)) as string;
      start = i + 1;
    } else if (ended || (depth === 1 && code === COMMA)) {
      if (key === name) found = json.slice(start, i).trim();
      start = i + 1;
    }
    if (ended) break;
  }
  return found;
}

/** The position of the quote that ends the string which starts at a position. */
function endOfString(json: string, start: number): number {
  let i = start + 1;
  while (json.charCodeAt(i) !== QUOTE) i += json.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}
