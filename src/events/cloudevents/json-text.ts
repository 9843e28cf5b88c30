const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** Most objects, arrays and members in one JSON text that is looked into: parsing costs more than a text's length tells. */
const MAX_PARTS = 100_000;

/** Whether a JSON text has more objects, arrays and members than that; braces, brackets and colons in strings count too. */
export function hasTooManyParts(json: string, maxParts = MAX_PARTS): boolean {
  if (json.length < maxParts) return false;
  let found = 0;
  for (const mark of ['{', '[', ':']) {
    for (let at = json.indexOf(mark); at !== -1; at = json.indexOf(mark, at + 1)) found++;
  }
  return found > maxParts;
}

/** A JSON text, and what it stands for. */
export interface ParsedJson {
  readonly json: string;
  readonly value: unknown;
}

/** Parses a text that may be JSON. Undefined where it is not, or has too many parts. */
export function parsedJson(json: string): ParsedJson | undefined {
  if (hasTooManyParts(json)) return undefined;
  try {
    return { json, value: JSON.parse(json) as unknown };
  } catch {
    return undefined;
  }
}

/** A member of a JSON object as it was written, with the white space around it. */
export interface MemberText {
  /** Name, colon and value. */
  readonly text: string;
  /** Its numbers keep their digits. */
  readonly value: string;
}

/**
 * Returns the members of a JSON object by name. Where a name occurs twice the last one counts, as for `JSON.parse`. The
 * text must be a valid JSON object.
 */
export function memberTexts(json: string): Map<string, MemberText> {
  const members = new Map<string, MemberText>();
  for (const { start, colon, end } of parts(json)) {
    const name = JSON.parse(json.slice(start, colon)) as string;
    members.set(name, { text: json.slice(start, end), value: json.slice(colon + 1, end) });
  }
  return members;
}

/** Returns the elements of a JSON array, each as it was written. The text must be a valid JSON array. */
export function elementTexts(json: string): string[] {
  return parts(json).map(({ start, end }) => json.slice(start, end).trim());
}

/** Where a member or an element stands in a JSON text; `colon`: after the name of a member. */
interface Part {
  readonly start: number;
  readonly colon: number;
  readonly end: number;
}

function parts(json: string): Part[] {
  const found: Part[] = [];
  let depth = 0;
  let start = 0;
  let colon = 0;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(json, i);
    } else if (OPENING.has(code)) {
      if (++depth === 1) start = i + 1;
    } else if (CLOSING.has(code)) {
      if (--depth === 0) {
        if (json.slice(start, i).trim() !== '') found.push({ start, colon, end: i });
        break;
      }
    } else if (depth === 1 && code === COLON) {
      colon = i;
    } else if (depth === 1 && code === COMMA) {
      found.push({ start, colon, end: i });
      start = i + 1;
    }
  }
  return found;
}

/** The position of the quote that ends the string starting at a position. */
function endOfString(json: string, start: number): number {
  let i = start + 1;
  while (json.charCodeAt(i) !== QUOTE) i += json.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}
