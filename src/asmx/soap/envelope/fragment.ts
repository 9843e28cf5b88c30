import { withoutOuterSpace, xmlAttribute } from '../../xml';
import type { ElementContent } from './element-content';
import { FAULTS } from '../fault';

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
  const { start, end, children, hasText } = content;
  if (children.length === 0 && !hasText) return undefined;
  const declarationOf = memoizedDeclarations(content);
  const growth = growthOf(content, declarationOf);
  if (growth > MAX_GROWTH * xml.length) {
    throw FAULTS.unreadable(
      `The payload would grow by ${String(growth)} characters, since its elements use namespaces that are declared outside ` +
        'of them. Declare each namespace on an element inside the payload.',
    );
  }
  let fragment = '';
  let position = start;
  for (const { nameEnd, needs } of children) {
    fragment += xml.slice(position, nameEnd);
    for (const prefix of needs) fragment += declarationOf(prefix);
    position = nameEnd;
  }
  fragment += xml.slice(position, end);
  return hasText ? fragment : withoutOuterSpace(fragment);
}

/** How many characters {@link fragmentOf} adds to an element's content. */
export function growthOf(content: ElementContent, declarationOf = memoizedDeclarations(content)): number {
  let growth = 0;
  for (const { needs } of content.children) {
    for (const prefix of needs) growth += declarationOf(prefix).length;
  }
  return growth;
}

/** Makes the function that writes the declaration of a prefix as it is made outside of a content; each is written once. */
function memoizedDeclarations(content: ElementContent): (prefix: string) => string {
  const declarations = new Map<string, string>();
  return (prefix) => {
    const known = declarations.get(prefix);
    if (known !== undefined) return known;
    const text = ` xmlns${prefix && `:${prefix}`}="${xmlAttribute(content.namespace(prefix) ?? '')}"`;
    declarations.set(prefix, text);
    return text;
  };
}
