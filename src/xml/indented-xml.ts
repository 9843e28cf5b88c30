import { SaxesParser } from 'saxes';

/**
 * Whether a text is well-formed XML: a document, or what may stand in an element.
 *
 * @param isCut - only the beginning of a text is given, and judged.
 */
export function isXml(text: string, isCut: boolean): boolean {
  const xml = text.trimStart();
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

const INDENT = '  ';

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 40;

/** A comment, a CDATA section, a processing instruction, a tag, a declaration, or text. */
const TOKEN =
  /<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<\?[^]*?\?>|<[^\s"'<>!?](?:[^"'<>]|"[^"]*"|'[^']*')*>|<!(?!--)[^<>[\]]*>|[^<]+/;

/** Divides XML into its tokens. From where it is not well-formed, the rest is one token. */
export function* xmlTokens(xml: string): Iterable<string> {
  const tokens = new RegExp(TOKEN, 'y');
  for (let position = 0; position < xml.length; position = tokens.lastIndex) {
    tokens.lastIndex = position;
    const token = tokens.exec(xml)?.[0];
    if (token === undefined) {
      yield xml.slice(position);
      return;
    }
    yield token;
  }
}

/**
 * Indents the elements of XML; what is inside a text keeps its white space. From where it is not well-formed, for instance because
 * it was cut, it is returned as it is. Takes time in proportion to its length.
 *
 * @param maxLength - about how many characters to return at most.
 * @returns undefined for what does not begin as XML.
 */
export function indentedXml(xml: string, maxLength = Infinity): string | undefined {
  const tokens = new RegExp(TOKEN, 'y');
  let text = '';
  let isAfterStartTag = false;
  /** For each open element, and for what is outside of all: whether it is inside a text, and so stays in its line. */
  const open = [false];
  const place = (staysInLine: boolean, token: string): string =>
    staysInLine ? token : `\n${INDENT.repeat(Math.min(open.length - 1, MAX_DEPTH))}${token}`;
  for (let position = 0; position < xml.length && text.length <= maxLength; position = tokens.lastIndex) {
    tokens.lastIndex = position;
    const token = tokens.exec(xml)?.[0];
    if (token === undefined) return position === 0 ? undefined : text + xml.slice(position);
    const isInText = open.at(-1) === true;
    if (!token.startsWith('<') || token.startsWith('<![CDATA[')) {
      if (!isInText && token.trim() === '') continue;
      open[open.length - 1] = true;
      text += token;
    } else if (token.startsWith('</')) {
      if (open.length > 1) open.pop();
      // An element without content stands in one line.
      text += place(isInText || isAfterStartTag, token);
      isAfterStartTag = false;
    } else {
      text += place(isInText || text === '', token);
      isAfterStartTag = isStartTag(token);
      if (isAfterStartTag) open.push(isInText);
    }
  }
  return text;
}

function isStartTag(token: string): boolean {
  return /^<[^/!?]/.test(token) && !token.endsWith('/>');
}
