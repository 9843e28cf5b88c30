import { isNameCharacter, isSpaceCode, xmlAttribute } from '../xml/characters';
import type { Scope, Tag } from '../xml/handler';
import { FAULTS } from './fault';

/** How many times the length of its message a payload may gain in declarations. */
const MAX_GROWTH = 8;

/** A child element: where it starts, where the name in its start tag ends, and what is declared in it. */
interface Child {
  readonly start: number;
  readonly nameEnd: number;
  readonly scope: Scope;
}

/** Declarations for a child element, and where in the document they go. */
interface Insertion {
  readonly place: number;
  readonly text: string;
}

/**
 * The content of an element, as an XML fragment that stands on its own. Each child element is given the declarations, made
 * further out, of the default namespace and of each prefix that stands before a colon in its text: in names, and in values and
 * texts that may be qualified names (`xsi:type="xsd:int"`) or hold some, as XPath does. One too many does no harm.
 *
 * The reader of the message reports where the content ends and its children. Offsets are in UTF-16 code units.
 */
export class Payload {
  /** The start of the end tag; undefined until that has been read. */
  end: number | undefined;
  /** Whether it directly holds text other than white space; then all of its white space counts. */
  hasText = false;
  readonly #xml: string;
  readonly #start: number;
  readonly #scope: Scope;
  readonly #children: Child[] = [];
  #written: Map<string, string> | undefined;
  #insertions: readonly Insertion[] | undefined;

  /**
   * @param xml - the whole message.
   * @param start - the end of the element's start tag.
   * @param scope - the declarations of the element and those around it.
   */
  constructor(xml: string, start: number, scope: Scope) {
    this.#xml = xml;
    this.#start = start;
    this.#scope = scope;
  }

  addChild(start: number, { name, scope }: Tag): void {
    this.#children.push({ start, nameEnd: start + 1 + name.length, scope });
  }

  /** How many characters longer it is than it was in its message. */
  get growth(): number {
    let growth = 0;
    for (const { text } of this.#declarations()) growth += text.length;
    return growth;
  }

  /**
   * Writes it. White space around its elements is left out, unless there is text beside them. Undefined if it is only white space
   * and comments.
   *
   * @throws {Fault} the declarations would make it many times as long as its message.
   */
  text(): string | undefined {
    if (this.#children.length === 0 && !this.hasText) return undefined;
    const xml = this.#xml;
    const { growth } = this;
    if (growth > MAX_GROWTH * xml.length) throw FAULTS.payloadGrowth(growth);
    let position = this.#start;
    let end = this.end ?? xml.length;
    if (!this.hasText) {
      while (isSpaceCode(xml.charCodeAt(position))) position++;
      while (isSpaceCode(xml.charCodeAt(end - 1))) end--;
    }
    let fragment = '';
    for (const { place, text } of this.#declarations()) {
      fragment += xml.slice(position, place) + text;
      position = place;
    }
    return fragment + xml.slice(position, end);
  }

  #declarations(): readonly Insertion[] {
    return (this.#insertions ??= this.#findDeclarations());
  }

  #findDeclarations(): readonly Insertion[] {
    const xml = this.#xml;
    const scope = this.#scope;
    const insertions: Insertion[] = [];
    this.#children.forEach(({ start, nameEnd, scope: childScope }, i) => {
      const end = this.#children[i + 1]?.start ?? this.end ?? xml.length;
      const own = childScope === scope ? undefined : childScope.declared;
      let text = scope.defaultNamespace === '' || own?.has('') === true ? '' : this.#declarationOf('');
      for (const prefix of prefixesIn(xml.slice(start, end), scope)) {
        if (own?.has(prefix) !== true) text += this.#declarationOf(prefix);
      }
      if (text !== '') insertions.push({ place: nameEnd, text });
    });
    return insertions;
  }

  /** Each is written once. */
  #declarationOf(prefix: string): string {
    const written = (this.#written ??= new Map<string, string>());
    let text = written.get(prefix);
    if (text !== undefined) return text;
    const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
    text = ` ${name}="${xmlAttribute(this.#scope.find(prefix) ?? '')}"`;
    written.set(prefix, text);
    return text;
  }
}

/**
 * The prefixes of a scope that stand before colons in a text, in one pass over the text. Where some may be written with
 * references or have letters beyond ASCII, all of the scope.
 */
function prefixesIn(text: string, scope: Scope): Iterable<string> {
  if (text.includes('&#')) return allPrefixes(scope);
  const found = new Set<string>();
  let searched = 0;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', searched)) {
    let start = colon;
    while (start > searched && isNameCharacter(text.charCodeAt(start - 1))) start--;
    if (start > searched && text.charCodeAt(start - 1) > MAX_ASCII) return allPrefixes(scope);
    const name = text.slice(start, colon);
    if (isDeclarable(name) && scope.find(name) !== undefined) found.add(name);
    searched = colon + 1;
  }
  return found;
}

const MAX_ASCII = 0x7f;

function allPrefixes(scope: Scope): string[] {
  return [...scope.all().keys()].filter(isDeclarable);
}

/** Whether this is a prefix other than that of XML itself. */
function isDeclarable(prefix: string): boolean {
  return prefix !== '' && prefix !== 'xml';
}
