import type { Token } from './markup';

const INDENT = '  ';

/** Deeper levels are neither indented further nor fold: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

/** Most objects and arrays that fold: browsers take a while to lay each of them out. */
const MAX_FOLDS = 1000;

/**
 * Divides JSON text into its parts, indented, objects and arrays to fold; numbers keep their digits and members their order. Each
 * line ends within the part that it begins in, so that none is empty where parts are blocks.
 *
 * @param json - valid JSON, of which the end may be missing.
 */
export function* jsonTokens(json: string): Iterable<Token> {
  /** Of each open object and array, whether it folds. */
  const open: boolean[] = [];
  let folds = 0;
  let isLineStart = true;
  let isInFirstLine = false;
  /** Whether a part that folds has ended, but its last line has not. */
  let hasEnded = false;
  const indentation = (): Token => [INDENT.repeat(Math.min(open.length, MAX_DEPTH)), undefined];
  for (const [token, colon = ''] of json.matchAll(TOKEN)) {
    if (token === ',') {
      yield [',\n', undefined];
      if (hasEnded) yield 'end';
      hasEnded = false;
      isLineStart = true;
      continue;
    }
    if (token === '}' || token === ']') {
      yield ['\n', undefined];
      if (hasEnded) yield 'end';
      hasEnded = open.pop() === true;
      yield indentation();
      yield [token, undefined];
      continue;
    }
    if (isLineStart) {
      const mayFold = token === '{' || token === '[' || /[{[]$/.test(colon);
      isInFirstLine = mayFold && open.length < MAX_DEPTH && folds < MAX_FOLDS;
      if (isInFirstLine) {
        folds++;
        yield 'fold';
      }
      yield indentation();
      isLineStart = false;
    }
    switch (token.charAt(0)) {
      case '"':
        yield [token, colon === '' ? 'text' : 'key'];
        break;
      case '{':
      case '[':
        if (token.length > 1) yield [token.replace(/\s/g, ''), undefined];
        else {
          yield [token, undefined];
          yield isInFirstLine ? 'rest' : ['\n', undefined];
          open.push(isInFirstLine);
          isInFirstLine = false;
          isLineStart = true;
        }
        break;
      case ':':
        yield [': ', undefined];
        break;
      default:
        yield [token, 'literal'];
    }
  }
  if (hasEnded) yield 'end';
  for (const isFold of open) if (isFold) yield 'end';
}

/**
 * An empty object or array, a mark, a string (also one that is cut) and after it the colon with the beginning of an object or array
 * that is not empty, or a number or name.
 */
const TOKEN =
  /\{\s*\}|\[\s*\]|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"?(?=(\s*:(?:\s*(?:\{(?!\s*\})|\[(?!\s*\])))?)?)|[^\s{}[\],:"]+/gs;
