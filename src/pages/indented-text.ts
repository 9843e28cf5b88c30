import { SaxesParser } from 'saxes';

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

function newLine(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, MAX_DEPTH))}`;
}

/** A comment, a CDATA section, a processing instruction, a tag, a declaration, or text; last, all from what is cut. */
const TOKEN =
  /<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<\?[^]*?\?>|<[^\s"'<>!?](?:[^"'<>]|"[^"]*"|'[^']*')*>|<!(?!--)[^<>[\]]*>|[^<]+|<[^]*/g;

/**
 * Indents the elements of a document, or of what may stand in an element; elements inside a text keep their white space. Returns
 * undefined if the text is not well-formed XML. Takes time in proportion to the length.
 *
 * @param isCut - it is only the beginning of a text, and is judged as that; after the cut token it stays as it is.
 */
export function indentedXml(xml: string, isCut = false): string | undefined {
  if (!isXml(xml.trimStart(), isCut)) return undefined;
  let text = '';
  let isAfterStartTag = false;
  /** For each open element, and for what is outside of all: whether it is inside a text, and so stays in its line. */
  const open = [false];
  const add = (token: string, staysInLine: boolean): void => {
    text += staysInLine ? token : newLine(open.length - 1) + token;
  };
  for (const [token] of xml.matchAll(TOKEN)) {
    const isInText = open.at(-1) === true;
    if (!/^<(?!!\[CDATA)/.test(token) || !token.endsWith('>')) {
      if (!isInText && token.trim() === '') continue;
      open[open.length - 1] = true;
      text += token;
    } else if (token.startsWith('</')) {
      if (open.length > 1) open.pop();
      // An element without content stands in one line.
      add(token, isInText || isAfterStartTag);
      isAfterStartTag = false;
    } else {
      add(token, isInText || text === '');
      isAfterStartTag = /^<[^/!?]/.test(token) && !token.endsWith('/>');
      if (isAfterStartTag) open.push(isInText);
    }
  }
  return text;
}

function isXml(xml: string, isCut: boolean): boolean {
  if (!xml.startsWith('<')) return false;
  const parser = new SaxesParser({ fragment: !/^<(?:\?xml\s|!DOCTYPE)/.test(xml) });
  try {
    parser.write(xml);
    if (!isCut) parser.close();
    return true;
  } catch {
    return false;
  }
}

/** A string, which may be cut; an empty object or array; a mark; anything else up to the next mark or white space. */
const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** Indents valid JSON, of which the end may be missing; numbers keep their digits and members their order. */
export function indentedJson(json: string): string {
  let [text, depth] = ['', 0];
  const line = () => newLine(depth);
  for (const [token] of json.matchAll(JSON_TOKEN)) {
    if (token === '}' || token === ']') {
      depth--;
      text += line();
    }
    text += /^[{[]./s.test(token) ? token.charAt(0) + token.slice(-1) : token;
    if (token === '{' || token === '[') depth++;
    if (token === '{' || token === '[' || token === ',') text += line();
    if (token === ':') text += ' ';
  }
  return text;
}
