/** Most objects, arrays and members in a JSON text that is parsed: their values take many times its length. */
const MAX_PARTS = 100_000;

/** A text that may be JSON. */
export class JsonText {
  /** @param json - need not be valid. */
  constructor(readonly json: string) {}

  /** True for more than `maxParts` objects, arrays and members; braces, brackets and colons in strings count too. */
  hasTooManyParts(maxParts = MAX_PARTS): boolean {
    const { json } = this;
    if (json.length < maxParts) return false;
    let found = 0;
    for (const mark of ['{', '[', ':']) {
      for (let at = json.indexOf(mark); at !== -1; at = json.indexOf(mark, at + 1)) if (++found > maxParts) return true;
    }
    return false;
  }

  /** Returns the text and what it stands for; undefined if it is not JSON. */
  parsed(): { readonly json: string; readonly value: unknown } | undefined {
    try {
      return { json: this.json, value: JSON.parse(this.json) as unknown };
    } catch {
      return undefined;
    }
  }

  /**
   * Returns the members of a JSON object by name, each value as it was written, with the white space around it: numbers keep their digits.
   * Undefined if the text is anything else, or has a name twice: either member may be meant.
   */
  members(): Map<string, string> | undefined {
    const { json } = this;
    const value = this.parsed()?.value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const parts = partsOf(json);
    const members = new Map(
      parts.map(({ start, colon, end }) => [
        JSON.parse(json.slice(start, colon)) as string,
        json.slice(colon + 1, end),
      ]),
    );
    return members.size === parts.length ? members : undefined;
  }

  /** Returns the first elements of a JSON array, each as it was written; undefined if the text is anything else. */
  elements(most: number): string[] | undefined {
    if (!Array.isArray(this.parsed()?.value)) return undefined;
    return partsOf(this.json, most).map(({ start, end }) => this.json.slice(start, end).trim());
  }
}

/** Finds the offsets of the members or elements of the object or array that a valid JSON text is; `colon`: after a name. */
function partsOf(json: string, most = Infinity) {
  const found: { readonly start: number; readonly colon: number; readonly end: number }[] = [];
  const marks = /["{}[\],:]/g;
  let [depth, start, colon] = [0, 0, 0];
  for (let mark = marks.exec(json); mark !== null; mark = marks.exec(json)) {
    const at = mark.index;
    switch (mark[0]) {
      case '"':
        marks.lastIndex = stringEnd(json, at);
        break;
      case '{':
      case '[':
        if (depth++ === 0) start = at + 1;
        break;
      case ':':
        if (depth === 1) colon = at;
        break;
      case ',':
        if (depth > 1) break;
        if (found.push({ start, colon, end: at }) === most) return found;
        start = at + 1;
        break;
      default:
        if (--depth === 0 && json.slice(start, at).trim() !== '') found.push({ start, colon, end: at });
    }
  }
  return found;
}

function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json[end - backslashes - 1] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end + 1;
  }
}
