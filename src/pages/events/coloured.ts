import { xmlTokens } from '../../xml/indented-xml';
import { markup, type Markup } from './markup';

/** A part of a text, and the class of the style sheet that colours it. */
type Token = readonly [text: string, colour: 'key' | 'text' | 'literal' | 'comment' | undefined];

/** Writes JSON or XML for a page as {@link markup} does, in colours where these fit into `maxBytes` too. */
export function coloured(kind: 'JSON' | 'XML', text: string, maxBytes: number): Markup {
  let html = '';
  let left = maxBytes;
  for (const [part, colour] of kind === 'JSON' ? jsonParts(text) : xmlParts(text)) {
    const escaped = markup(part, left).html;
    const piece = colour === undefined ? escaped : `<span class="${colour}">${escaped}</span>`;
    left -= Buffer.byteLength(piece);
    if (left < 0) return markup(text, maxBytes);
    html += piece;
  }
  return { html, isCut: false };
}

/** A string (also one that is cut), a number or name, or what is between them. */
const JSON_PART = /"[^"\\]*(?:\\.[^"\\]*)*"?|[^\s{}[\],:"]+|[\s{}[\],:]+/gs;

function* jsonParts(json: string): Iterable<Token> {
  for (const { 0: part, index } of json.matchAll(JSON_PART)) {
    if (part.startsWith('"')) yield [part, json[index + part.length] === ':' ? 'key' : 'text'];
    else yield [part, /^[-\w]/.test(part) ? 'literal' : undefined];
  }
}

function* xmlParts(xml: string): Iterable<Token> {
  for (const token of xmlTokens(xml)) {
    if (/^<[!?]/.test(token)) yield [token, token.startsWith('<![CDATA[') ? undefined : 'comment'];
    else if (!/^<.*>$/s.test(token)) yield [token, undefined];
    else {
      // Values of attributes stand at the odd places.
      for (const [i, part] of token.split(/("[^"]*"|'[^']*')/).entries()) {
        if (part !== '') yield [part, i % 2 === 1 ? 'text' : 'key'];
      }
    }
  }
}
