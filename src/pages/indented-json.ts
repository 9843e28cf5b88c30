const INDENT = '  ';

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

/** The line breaks before each level. */
const LINES = Array.from({ length: MAX_DEPTH + 1 }, (_, depth) => `\n${INDENT.repeat(depth)}`);

/** A string, also one that is cut, or anything else up to the next mark or white space. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"?/sy;
const OTHER = /[^\s{}[\],:"]+/y;
const SPACE = /\s+/y;
const EMPTY = /\{\s*\}|\[\s*\]/y;

/**
 * Indents JSON text; numbers keep their digits and members their order.
 *
 * @param json - valid JSON, of which the end may be missing.
 */
export function indentedJson(json: string): string {
  let text = '';
  let depth = 0;
  let at = 0;
  const line = (): string => LINES[Math.min(depth, MAX_DEPTH)] ?? '';
  const rest = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(json)?.[0] ?? '';
    at += found.length;
    return found;
  };
  while (at < json.length) {
    const mark = json.charAt(at);
    switch (mark) {
      case '"':
        text += rest(STRING);
        break;
      case ',':
        text += mark + line();
        at++;
        break;
      case ':':
        text += ': ';
        at++;
        break;
      case '{':
      case '[':
        if (rest(EMPTY) !== '') text += mark === '{' ? '{}' : '[]';
        else {
          depth++;
          text += mark + line();
          at++;
        }
        break;
      case '}':
      case ']':
        depth--;
        text += line() + mark;
        at++;
        break;
      default:
        if (rest(SPACE) === '') text += rest(OTHER);
    }
  }
  return text;
}
