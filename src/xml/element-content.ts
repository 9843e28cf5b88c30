import { isNameCharacter, isSpaceCode, xmlAttribute } from './characters';
import { NO_DECLARATIONS, type Scope, type Tag } from './handler';

const SLASH = 0x2f;

/** How many times the length of its document a content may gain in declarations, and how many characters at most. */
const MAX_GROWTH = 8;
const MAX_GAIN = 4 * 1024 * 1024;

/** A child element: its offset, the end of the name in its start tag, and the declarations in force in it. */
interface Child {
  readonly start: number;
  readonly nameEnd: number;
  readonly scope: Scope;
}

/**
 * The content of an element, as an XML fragment that stands on its own. Each child element is given the declarations, made
 * further out, of the default namespace and of each prefix that stands before a colon in it: in names, and in values and
 * texts that may be qualified names (`xsi:type="xsd:int"`) or hold some, as XPath does. One too many does no harm.
 */
export class ElementContent {
  /** The start of the end tag; undefined until that has been read. */
  end: number | undefined;
  /** Whether it directly holds text other than white space; then all of its white space counts. */
  hasText = false;
  readonly #children: Child[] = [];
  /** The declarations that were written, by prefix. */
  readonly #written = new Map<string, string>();

  constructor(
    private readonly xml: string,
    private readonly start: number,
    private readonly scope: Scope = NO_DECLARATIONS,
  ) {}

  addChild(start: number, { name, scope }: Tag): void {
    this.#children.push({ start, nameEnd: start + 1 + name.length, scope });
  }

  /** The offset after the end tag, once that has been read. */
  get elementEnd(): number {
    const { end = this.xml.length } = this;
    const isEmptyTag = this.xml.charCodeAt(this.start - 2) === SLASH;
    return isEmptyTag ? end : this.xml.indexOf('>', end) + 1;
  }

  /** Whether it holds something beside its first child element, which has this content. */
  hasMoreThan(child: ElementContent): boolean {
    const xml = this.xml;
    const before = xml.slice(this.start, this.#children[0]?.start);
    return !isBlank(before) || !isBlank(xml.slice(child.elementEnd, this.end));
  }

  /**
   * Writes it, without the white space around its elements, unless there is text beside them. Undefined if it is only white space
   * and comments.
   *
   * @param tooLong - returns the error to throw if declarations add more than `maxGrowth` characters.
   */
  text(tooLong: (maxGrowth: number) => Error): string | undefined {
    const xml = this.xml;
    if (this.#children.length === 0 && isBlank(xml.slice(this.start, this.end))) return undefined;
    const maxGrowth = Math.min(MAX_GROWTH * xml.length, MAX_GAIN);
    let growth = 0;
    let position = this.start;
    let end = this.end ?? xml.length;
    if (!this.hasText) {
      while (isSpaceCode(xml.charCodeAt(position))) position++;
      while (isSpaceCode(xml.charCodeAt(end - 1))) end--;
    }
    const parts: string[] = [];
    for (const [i, child] of this.#children.entries()) {
      const childEnd = this.#children[i + 1]?.start ?? end;
      const declarations = this.#declarationsOn(child, childEnd);
      if (declarations === '') continue;
      growth += declarations.length;
      if (growth > maxGrowth) throw tooLong(maxGrowth);
      parts.push(xml.slice(position, child.nameEnd), declarations);
      position = child.nameEnd;
    }
    parts.push(xml.slice(position, end));
    return parts.join('');
  }

  /** Writes the declarations that a child, which ends at `end`, may need and does not make itself. */
  #declarationsOn({ start, scope: own }: Child, end: number): string {
    const scope = this.scope;
    const { declared } = own === scope ? NO_DECLARATIONS : own;
    let text = '';
    for (const prefix of prefixesIn(this.xml.slice(start, end), scope) ?? new Set(['', ...scope.all().keys()]))
      if (!declared.has(prefix)) text += this.#written.get(prefix) ?? this.#write(prefix);
    return text;
  }

  /** Writes the declaration of a prefix; empty if it needs none. */
  #write(prefix: string): string {
    const namespace = this.scope.find(prefix) ?? '';
    const name = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
    const text = namespace === '' || prefix === 'xml' ? '' : ` ${name}="${xmlAttribute(namespace)}"`;
    this.#written.set(prefix, text);
    return text;
  }
}

/** Whether a part of well-formed XML is only white space and comments. */
function isBlank(xml: string): boolean {
  for (let at = 0; ; at = xml.indexOf('-->', at) + 3) {
    while (isSpaceCode(xml.charCodeAt(at))) at++;
    if (!xml.startsWith('<!--', at)) return at === xml.length;
  }
}

/** Returns the empty prefix and the declared ones before colons in a text; undefined if a reference or a letter beyond ASCII may hide others. */
function prefixesIn(text: string, scope: Scope): ReadonlySet<string> | undefined {
  if (text.includes('&#')) return undefined;
  const found = new Set(['']);
  let searched = 0;
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', searched)) {
    let start = colon;
    while (start > searched && isNameCharacter(text.charCodeAt(start - 1))) start--;
    if (start > searched && text.charCodeAt(start - 1) > MAX_ASCII) return undefined;
    const name = text.slice(start, colon);
    if (scope.find(name) !== undefined) found.add(name);
    searched = colon + 1;
  }
  return found;
}

const MAX_ASCII = 0x7f;
