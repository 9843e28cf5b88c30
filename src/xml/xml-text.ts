import { SaxesParser } from 'saxes';

const INDENT = '  ';

/** Deeper levels are indented no further: the indentation of 10,000 levels would be the page. */
const MAX_DEPTH = 20;

/** A comment, a CDATA section, a processing instruction, a tag, a declaration, or text. */
const TOKEN =
  /<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<\?[^]*?\?>|<[^\s"'<>!?](?:[^"'<>]|"[^"]*"|'[^']*')*>|<!(?!--)[^<>[\]]*>|[^<]+/;

/** A text that may be XML: a document, or what may stand in an element. */
export class XmlText {
  /** @param xml - need not be valid. */
  constructor(readonly xml: string) {}

  /**
   * Whether it is well-formed.
   *
   * @param isCut - it is only the beginning of a text, and is judged as that.
   */
  isXml(isCut: boolean): boolean {
    const xml = this.xml.trimStart();
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

  /**
   * Indents its elements; elements inside a text keep their white space. The rest after a mistake, for instance a cut, stays as it
   * is, and so does a text that does not begin as XML. Takes time in proportion to the length.
   */
  indented(): string {
    let text = '';
    for (const [indentation, token] of this.indentedTokens()) text += indentation + token;
    return text;
  }

  /** Divides it into its tokens, each with the white space before it, as {@link XmlText.indented} writes them. */
  *indentedTokens(): Iterable<readonly [indentation: string, token: string]> {
    const { xml } = this;
    const tokens = new RegExp(TOKEN, 'y');
    let isFirst = true;
    let isAfterStartTag = false;
    /** For each open element, and for what is outside of all: whether it is inside a text, and so stays in its line. */
    const open = [false];
    const indentation = (staysInLine: boolean): string =>
      staysInLine ? '' : `\n${INDENT.repeat(Math.min(open.length - 1, MAX_DEPTH))}`;
    for (let position = 0; position < xml.length; position = tokens.lastIndex) {
      tokens.lastIndex = position;
      const token = tokens.exec(xml)?.[0];
      if (token === undefined) {
        yield ['', xml.slice(position)];
        return;
      }
      const isInText = open.at(-1) === true;
      if (!token.startsWith('<') || token.startsWith('<![CDATA[')) {
        if (!isInText && token.trim() === '') continue;
        open[open.length - 1] = true;
        yield ['', token];
      } else if (token.startsWith('</')) {
        if (open.length > 1) open.pop();
        // An element without content stands in one line.
        yield [indentation(isInText || isAfterStartTag), token];
        isAfterStartTag = false;
      } else {
        yield [indentation(isInText || isFirst), token];
        isAfterStartTag = isStartTag(token);
        if (isAfterStartTag) open.push(isInText);
      }
      isFirst = false;
    }
  }
}

function isStartTag(token: string): boolean {
  return /^<[^/!?]/.test(token) && !token.endsWith('/>');
}
