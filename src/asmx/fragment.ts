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
  const carried = [...inherited].filter(
    ([prefix, uri]) => prefix !== 'xml' && uri !== '' && (prefix === '' || mentions(source, prefix)),
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
  return content.mixed ? fragment : fragment.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

function declaration(prefix: string, uri: string): string {
  return ` xmlns${prefix && `:${prefix}`}="${xmlAttribute(uri)}"`;
}

/** Whether a prefix stands before a colon, and not as the end of a longer one. */
function mentions(source: string, prefix: string): boolean {
  const sought = `${prefix}:`;
  for (let at = source.indexOf(sought); at !== -1; at = source.indexOf(sought, at + 1)) {
    if (!/[\p{L}\p{N}._-]$/u.test(source.slice(Math.max(0, at - 2), at))) return true;
  }
  return false;
}
