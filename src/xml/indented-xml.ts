/** How far each level is indented. */
const INDENT = '  ';
const MAX_DEPTH = 40;

/** A comment, a CDATA section, a processing instruction, a tag, a declaration, or text. */
const TOKEN =
  /<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<\?[^]*?\?>|<[^\s"'<>!?](?:[^"'<>]|"[^"]*"|'[^']*')*>|<![^<>[\]]*>|[^<]+/;

/**
 * Indents XML: elements, but no text, so that what is inside a text keeps its white space. From where it is not well-formed on,
 * for instance because it was cut, it is returned as it is. Undefined: it is no XML at all.
 */
export function indentedXml(xml: string): string | undefined {
  const tokens = new RegExp(TOKEN, 'y');
  let text = '';
  /** Of each open element, and of what is outside of all: whether it is inside a text, and so stays in its line. */
  const open = [false];
  const place = (staysInLine: boolean, token: string): string =>
    staysInLine ? token : `\n${INDENT.repeat(Math.min(open.length - 1, MAX_DEPTH))}${token}`;
  for (let position = 0; position < xml.length; position = tokens.lastIndex) {
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
      text += place(isInText || isStart(text.slice(text.lastIndexOf('<'))), token);
    } else {
      text += place(isInText || text === '', token);
      if (isStart(token)) open.push(isInText);
    }
  }
  return text;
}

function isStart(token: string): boolean {
  return /^<[^/!?]/.test(token) && !token.endsWith('/>');
}
