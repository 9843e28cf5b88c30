import { unreadable } from './fault';
import { xmlAttribute } from './xml';

/** Most characters that a fragment may grow by: a few long declarations times many children could fill any memory. */
const MAX_GROWTH = 16 * 1024 * 1024;

/** Where the content of an element stands in the text of its document. Offsets are UTF-16 code units. */
export interface ElementContent {
  /** Behind the start tag. */
  readonly start: number;
  /** Before the end tag; undefined until it was read. */
  end: number | undefined;
  /** Namespace declarations of the element and those around it, outermost first. */
  readonly scope: readonly Readonly<Record<string, string>>[];
  readonly children: { readonly nameEnd: number; readonly declared: Readonly<Record<string, string>> }[];
  /** Whether text other than white space stands directly in it; then all white space counts. */
  mixed: boolean;
}

/**
 * Cuts an element's content out as an XML fragment that stands for itself: each child element gets the declarations of
 * prefixes that the fragment mentions and that were made further out. A prefix counts as mentioned where it stands before
 * a colon, since values (`xsi:type="xsd:int"`) use prefixes too. White space around elements alone is left out. Undefined:
 * there is neither an element nor text.
 *
 * @throws {Fault} it would become many times as large as it was.
 */
export function fragmentOf(xml: string, content: ElementContent): string | undefined {
  if (content.children.length === 0 && !content.mixed) return undefined;
  const source = xml.slice(content.start, content.end);
  const inherited = new Map<string, string>();
  for (const declared of content.scope) {
    for (const [prefix, uri] of Object.entries(declared)) inherited.set(prefix, uri);
  }
  const mentioned = mentionedPrefixes(source, inherited);
  const carried = [...inherited].filter(
    ([prefix, uri]) => prefix !== 'xml' && uri !== '' && (prefix === '' || mentioned.has(prefix)),
  );
  const declarations = carried.map(([prefix, uri]) => [prefix, declaration(prefix, uri)] as const);
  const growth = declarations.reduce((sum, [, text]) => sum + text.length, 0) * content.children.length;
  if (growth > MAX_GROWTH) {
    throw unreadable(
      `Its payload would grow by ${String(growth)} characters of namespace declarations made outside of it.`,
    );
  }
  let fragment = '';
  let position = content.start;
  for (const { nameEnd, declared } of content.children) {
    fragment += xml.slice(position, nameEnd);
    for (const [prefix, text] of declarations) {
      if (!Object.hasOwn(declared, prefix)) fragment += text;
    }
    position = nameEnd;
  }
  fragment += xml.slice(position, content.end);
  return content.mixed ? fragment : trimmed(fragment);
}

/** Without white space of XML around it. No expression: one would try every run of white space inside, at every place. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d || code === 0x0a;
}

function declaration(prefix: string, uri: string): string {
  return ` xmlns${prefix && `:${prefix}`}="${xmlAttribute(uri)}"`;
}

/** Which of the prefixes stand before a colon, and not as the end of a longer one. It goes through the text once. */
function mentionedPrefixes(source: string, known: ReadonlyMap<string, string>): Set<string> {
  const found = new Set<string>();
  let behind = 0;
  for (let colon = source.indexOf(':'); colon !== -1; colon = source.indexOf(':', behind)) {
    let start = colon;
    while (start > behind && isNameCharacter(source.charCodeAt(start - 1))) start--;
    const prefix = source.slice(start, colon);
    if (known.has(prefix)) found.add(prefix);
    behind = colon + 1;
  }
  return found;
}

const ASCII_NAME = new Set(
  Array.from({ length: 128 }, (_, code) => code).filter((code) => /[\w.-]/.test(String.fromCharCode(code))),
);

/** Beyond ASCII, letters and digits; the halves of surrogate pairs count as letters. */
function isNameCharacter(code: number): boolean {
  return code < 128 ? ASCII_NAME.has(code) : /[\p{L}\p{N}\p{Cs}]/u.test(String.fromCharCode(code));
}
