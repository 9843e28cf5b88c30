import { atOnce, type Steps } from '../../util/promises';
import { slicesOf } from '../payload';

/** Most objects, arrays and members in one JSON text that is looked into: what they stand for takes many times its length. */
const MAX_PARTS = 100_000;

/** `JSON.parse` reads texts up to these lengths in a few milliseconds: in characters, and in braces, brackets, colons and commas. */
const MAX_PARSED_LENGTH = 1024 * 1024;
const MAX_PARSED_MARKS = 100_000;

/** A member of a longer text is looked at if its value has at most this many characters. */
const MAX_SHORT = 4096;

/** A JSON text, and what it stands for. */
export interface ParsedJson {
  readonly json: string;
  /** Of a long object only the members with short values, of another long text nothing. */
  readonly value?: unknown;
}

/** A member of a JSON object as it was written, with the white space around it. */
export interface MemberText {
  /** Name, colon and value. */
  readonly text: string;
  /** Its numbers keep their digits. */
  readonly value: string;
}

/** A text that may be JSON. It is read in steps, between which other calls run: it may be long. */
export class JsonText {
  /** @param json - need not be valid. */
  constructor(readonly json: string) {}

  /** Writes a string as JSON does, in pieces. */
  static *stringPieces(text: string): Generator<string> {
    yield '"';
    for (const slice of slicesOf(text)) yield JSON.stringify(slice).slice(1, -1);
    yield '"';
  }

  /** Whether it has more objects, arrays and members; braces, brackets and colons in strings count too. */
  hasTooManyParts(maxParts = MAX_PARTS): boolean {
    return this.#hasMoreThan(maxParts, ['{', '[', ':']);
  }

  #hasMoreThan(most: number, marks: readonly string[]): boolean {
    const { json } = this;
    if (json.length < most) return false;
    let found = 0;
    for (const mark of marks) {
      for (let at = json.indexOf(mark); at !== -1; at = json.indexOf(mark, at + 1)) if (++found > most) return true;
    }
    return false;
  }

  *isJson(): Steps<boolean> {
    return (yield* partSteps(this.json, undefined, 0)) !== undefined;
  }

  /** Parses the text. Returns undefined if it is not JSON. */
  *parsed(): Steps<ParsedJson | undefined> {
    const { json } = this;
    if (json.length <= MAX_PARSED_LENGTH && !this.#hasMoreThan(MAX_PARSED_MARKS, ['{', '[', ':', ',']))
      return parsedJson(json);
    const members = yield* this.members();
    if (members === undefined) return (yield* this.isJson()) ? { json } : undefined;
    const value = Object.create(null) as Record<string, unknown>;
    for (const [name, { value: text }] of members) {
      if (text.length <= MAX_SHORT) value[name] = JSON.parse(text);
      yield;
    }
    return { json, value };
  }

  /**
   * Returns the members of a JSON object by name; undefined if the text is anything else. If a name occurs twice the last one
   * applies, as for `JSON.parse`.
   */
  *members(): Steps<Map<string, MemberText> | undefined> {
    const { json } = this;
    const parts = yield* partSteps(json, '{');
    if (parts === undefined) return undefined;
    const members = new Map<string, MemberText>();
    for (const { start, colon, end } of parts) {
      const name = JSON.parse(json.slice(start, colon)) as string;
      members.set(name, { text: json.slice(start, end), value: json.slice(colon + 1, end) });
      yield;
    }
    return members;
  }

  /** Returns the members in one go; none if the text is not a JSON object. */
  membersAtOnce(): Map<string, MemberText> {
    return atOnce(this.members()) ?? new Map<string, MemberText>();
  }

  /** Returns the first elements of a JSON array, each as it was written; undefined if the text is anything else. */
  *elements(most = Infinity): Steps<string[] | undefined> {
    const parts = yield* partSteps(this.json, '[', most);
    return parts?.map(({ start, end }) => this.json.slice(start, end).trim());
  }
}

function parsedJson(json: string): ParsedJson | undefined {
  try {
    return { json, value: JSON.parse(json) as unknown };
  } catch {
    return undefined;
  }
}

/** Offsets of a member or an element in a JSON text; `colon`: after the name of a member. */
interface JsonPart {
  readonly start: number;
  readonly colon: number;
  readonly end: number;
}

/** How many characters are read at a time. */
const PART_LENGTH = 4096;

/** White space and a token (RFC 8259, section 2), or long white space. Of a string only its first quote. */
const TOKEN =
  /[ \t\n\r]{4096}|[ \t\n\r]{0,4095}(?:["{}[\],:]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const STRING_PART = /(?:[ !#-[\]-\uffff]{1,64}|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})){1,64}/y;
const SPACE = ' \t\n\r';
const REST = /[ \t\n\r]*$/y;

/** The token expected next: instead of the `first` of a container its end may come. */
type Expected = 'first' | 'name' | 'colon' | 'value' | 'separator';

/**
 * Reads a JSON text as `JSON.parse` does, in steps, and returns the members or elements of the object or array that it is.
 * Undefined if it is not JSON, or does not begin as it should.
 *
 * @param most - ends the reading after as many members or elements; 0: reads on, and returns none.
 */
function* partSteps(json: string, beginning?: '{' | '[', most = Infinity): Steps<JsonPart[] | undefined> {
  const found: JsonPart[] = [];
  /** The open objects and arrays, outermost first. */
  const open: string[] = [];
  let expected: Expected = 'value';
  let start = 0;
  let colon = 0;
  for (let at = 0, pause = PART_LENGTH; ;) {
    if (at >= pause) {
      yield;
      pause = at + PART_LENGTH;
    }
    TOKEN.lastIndex = at;
    if (!TOKEN.test(json)) return undefined;
    at = TOKEN.lastIndex;
    const token = json.charAt(at - 1);
    if (SPACE.includes(token)) continue;
    if (open.length === 0 && beginning !== undefined && token !== beginning) return undefined;
    const inside = open.at(-1);
    const mayBeValue = expected === 'value' || (expected === 'first' && inside === '[');
    switch (token) {
      case '{':
      case '[':
        if (!mayBeValue) return undefined;
        if (open.push(token) === 1) start = at;
        expected = 'first';
        continue;
      case ':':
        if (expected !== 'colon') return undefined;
        if (open.length === 1) colon = at - 1;
        expected = 'value';
        continue;
      case ',':
        if (expected !== 'separator') return undefined;
        if (open.length === 1) {
          if (most > 0 && found.push({ start, colon, end: at - 1 }) >= most) return found;
          start = at;
        }
        expected = inside === '{' ? 'name' : 'value';
        continue;
      case '}':
      case ']':
        if (inside !== (token === '}' ? '{' : '[') || (expected !== 'first' && expected !== 'separator'))
          return undefined;
        open.pop();
        if (open.length === 0 && expected === 'separator') found.push({ start, colon, end: at - 1 });
        break;
      case '"':
        for (STRING_PART.lastIndex = at; STRING_PART.test(json); STRING_PART.lastIndex = at) {
          at = STRING_PART.lastIndex;
          if (at < pause) continue;
          yield;
          pause = at + PART_LENGTH;
        }
        if (json.charAt(at++) !== '"') return undefined;
        if (expected === 'name' || (expected === 'first' && inside === '{')) {
          expected = 'colon';
          continue;
        }
        if (!mayBeValue) return undefined;
        break;
      default:
        if (!mayBeValue) return undefined;
    }
    expected = 'separator';
    if (open.length > 0) continue;
    REST.lastIndex = at;
    return REST.test(json) ? found : undefined;
  }
}
