/** How far each level is indented. */
const INDENT = '  ';

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 40;

/**
 * Indents JSON text, whose numbers keep their digits and whose members keep their order.
 *
 * @param json - valid JSON, of which the end may be missing.
 * @param maxLength - about how many characters to return at most.
 */
export function indentedJson(json: string, maxLength: number): string {
  let text = '';
  let depth = 0;
  const newLine = (): string => `\n${INDENT.repeat(Math.min(depth, MAX_DEPTH))}`;
  for (const [token] of json.matchAll(TOKEN)) {
    if (text.length > maxLength) break;
    const first = token[0] ?? '';
    if (first === '{' || first === '[') {
      text += token.length > 1 ? `${first}${token.at(-1) ?? ''}` : first;
      if (token.length > 1) continue;
      depth++;
      text += newLine();
    } else if (first === '}' || first === ']') {
      depth--;
      text += newLine() + first;
    } else if (first === ',') text += `,${newLine()}`;
    else if (first === ':') text += ': ';
    else text += token;
  }
  return text;
}

/** An empty object or array, a mark, a string (also one that is cut), or a number or name. */
const TOKEN = /\{\s*\}|\[\s*\]|[{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"?|[^\s{}[\],:"]+/gs;
