import type { SaxesTagNS } from 'saxes';
import { forEachPrefix } from './prefixes';

/** Namespaces by the prefixes that an element declares for them; the empty prefix stands for the default namespace. */
type Declarations = Readonly<Record<string, string>>;

/** A child element, and what it needs to stand on its own. */
export interface Child {
  /** The end of its name in the start tag: the place for declarations. */
  readonly nameEnd: number;
  /** The prefixes it uses that are declared further out. */
  readonly needs: readonly string[];
}

/** Declared by XML itself. */
const XML_PREFIX = 'xml';

/**
 * Where in its document the content of an element stands, and what its children need of the declarations around them. It is
 * told of everything in the content while that is read. Offsets are in UTF-16 code units.
 */
export class ElementContent {
  /** The end of the start tag. */
  readonly start: number;
  /** The start of the end tag; undefined until that has been read. */
  end: number | undefined;
  /** Whether it directly holds text other than white space; then all of its white space counts. */
  hasText = false;
  /** The declarations of the element and those around it, innermost first. */
  readonly #scope: readonly Declarations[];
  readonly #hasDefault: boolean;
  readonly #children: Child[] = [];
  #declared: Declarations = {};
  /** The needs of the last child; of one before it if they are the same, since most children are alike. */
  #needs: string[] = [];
  #seen: Set<string> | undefined;

  /** @param open - the open elements, outermost first; the last one is that whose content this is. */
  constructor(start: number, open: readonly SaxesTagNS[]) {
    this.start = start;
    this.#scope = open.map(({ ns }) => ns).reverse();
    this.#hasDefault = (this.namespace('') ?? '') !== '';
  }

  get children(): readonly Child[] {
    return this.#children;
  }

  /** The namespace that a prefix has outside of the children; undefined: it is not declared there. */
  namespace(prefix: string): string | undefined {
    return this.#scope.find((declared) => Object.hasOwn(declared, prefix))?.[prefix];
  }

  /** A child opens. */
  openChild(nameEnd: number, { ns }: SaxesTagNS): void {
    this.#declared = ns;
    this.#seen?.clear();
    const needs = this.#hasDefault && !Object.hasOwn(ns, '') ? [''] : [];
    this.#shareNeeds();
    this.#needs = needs;
    this.#children.push({ nameEnd, needs });
  }

  /** The start tag of a child, or of an element inside it: the prefixes of its name, its attributes and their values. */
  addTag({ prefix, attributes }: SaxesTagNS): void {
    if (prefix !== '') this.#use(prefix);
    for (const name in attributes) {
      const attribute = attributes[name];
      if (attribute === undefined || attribute.prefix === 'xmlns' || name === 'xmlns') continue;
      if (attribute.prefix !== '') this.#use(attribute.prefix);
      this.addText(attribute.value);
    }
  }

  /** Text in a child or an attribute. It may be a qualified name, as in `xsi:type="xsd:int"`, or hold some, as XPath does. */
  addText(text: string): void {
    if (this.#children.length > 0) forEachPrefix(text, this.#use);
  }

  readonly #use = (prefix: string): void => {
    if (this.#seen?.has(prefix) === true || prefix === XML_PREFIX) return;
    if (Object.hasOwn(this.#declared, prefix) || this.namespace(prefix) === undefined) return;
    (this.#seen ??= new Set()).add(prefix);
    this.#needs.push(prefix);
  };

  /** Lets the last child have the same list as the one before it, if that says the same. */
  #shareNeeds(): void {
    const last = this.#children.length - 1;
    const [before, child] = [this.#children[last - 1], this.#children[last]];
    if (before === undefined || child === undefined || before.needs.length !== child.needs.length) return;
    if (child.needs.every((prefix, i) => prefix === before.needs[i]))
      this.#children[last] = { nameEnd: child.nameEnd, needs: before.needs };
  }
}
