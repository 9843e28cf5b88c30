import { xmlAttribute } from '../../xml/xml';
import { FAULTS } from '../fault';
import { isSpaceCode } from '../../xml/characters';
import type { ElementContent } from './element-content';

/** How many times the length of its message a fragment may gain in declarations. */
const MAX_GROWTH = 8;

/**
 * Cuts out an element's content as an XML fragment that stands on its own: each child element is given the declarations,
 * made further out, of the prefixes that it mentions, and of the default namespace. Where there is no text, white space
 * around the elements is left out. Undefined: there is neither an element nor text.
 *
 * @throws {Fault} the declarations would make it many times as long as its message.
 */
export function fragmentOf(xml: string, content: ElementContent): string | undefined {
  const { children, hasText } = content;
  if (children.length === 0 && !hasText) return undefined;
  const declarations = new Declarations(content);
  const growth = growthOf(content, declarations);
  if (growth > MAX_GROWTH * xml.length) {
    throw FAULTS.unreadable(
      `The payload would grow by ${String(growth)} characters, since its elements use namespaces that are declared outside ` +
        'of them. Declare each namespace on an element inside the payload.',
    );
  }
  let position = content.start;
  let end = content.end ?? xml.length;
  if (!hasText) {
    while (isSpaceCode(xml.charCodeAt(position))) position++;
    while (isSpaceCode(xml.charCodeAt(end - 1))) end--;
  }
  let fragment = '';
  for (const { nameEnd, needs } of children) {
    if (needs.length === 0) continue;
    fragment += xml.slice(position, nameEnd) + declarations.of(needs);
    position = nameEnd;
  }
  return fragment + xml.slice(position, end);
}

/** How many characters {@link fragmentOf} adds to an element's content. */
export function growthOf(content: ElementContent, declarations = new Declarations(content)): number {
  let growth = 0;
  for (const { needs } of content.children) if (needs.length > 0) growth += declarations.of(needs).length;
  return growth;
}

/** Most namespaces are like this: nothing in them has to be escaped. */
const PLAIN = /^[\w.:/#?=-]*$/;

/** Writes declarations as they are made outside of a content; each is written once. */
class Declarations {
  readonly #content: ElementContent;
  #written: Map<string, string> | undefined;
  /** Children that follow each other mostly share what they need. */
  #last: readonly string[] = [];
  #lastText = '';

  constructor(content: ElementContent) {
    this.#content = content;
  }

  /** The declarations of these prefixes. */
  of(prefixes: readonly string[]): string {
    if (prefixes === this.#last) return this.#lastText;
    let text = '';
    for (const prefix of prefixes) text += this.#declarationOf(prefix);
    this.#last = prefixes;
    this.#lastText = text;
    return text;
  }

  #declarationOf(prefix: string): string {
    const known = this.#written?.get(prefix);
    if (known !== undefined) return known;
    const namespace = this.#content.namespace(prefix) ?? '';
    const value = PLAIN.test(namespace) ? namespace : xmlAttribute(namespace);
    const text = prefix === '' ? ` xmlns="${value}"` : ` xmlns:${prefix}="${value}"`;
    (this.#written ??= new Map<string, string>()).set(prefix, text);
    return text;
  }
}
