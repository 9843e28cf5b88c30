import type { Scope } from '../../xml/scope';
import type { Tag } from '../../xml/tag';

/** A child element, and what it needs to stand on its own. */
export interface Child {
  /** The end of its name in the start tag: the place for declarations. */
  readonly nameEnd: number;
  /** The prefixes it uses that are declared further out. Children that need the same have the same list, if they follow each other. */
  readonly needs: readonly string[];
}

/** Declared by XML itself. */
const XML_PREFIX = 'xml';

const NOTHING: readonly string[] = [];
const DEFAULT_NAMESPACE: readonly string[] = [''];

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
  /** The declarations of the element and those around it. */
  readonly #scope: Scope;
  readonly #children: Child[] = [];
  /** The declarations in force in the last child. */
  #childScope: Scope;
  /** The needs of the last child, if they are more than its default namespace. */
  #needs: string[] | undefined;
  #seen: Set<string> | undefined;

  constructor(start: number, scope: Scope) {
    this.start = start;
    this.#scope = scope;
    this.#childScope = scope;
  }

  get children(): readonly Child[] {
    return this.#children;
  }

  /** The namespace that a prefix has outside of the children; undefined: it is not declared there. */
  namespace(prefix: string): string | undefined {
    return this.#scope.find(prefix);
  }

  /** A child opens. */
  openChild(nameEnd: number, { scope }: Tag): void {
    this.#shareNeeds();
    this.#childScope = scope;
    const needsDefault = this.#scope.defaultNamespace !== '' && !this.#isDeclared('');
    this.#children.push({ nameEnd, needs: needsDefault ? DEFAULT_NAMESPACE : NOTHING });
  }

  /** The last child, or something in it, uses a prefix. */
  use(prefix: string): void {
    if (this.#seen?.has(prefix) === true || prefix === XML_PREFIX) return;
    if (this.#isDeclared(prefix) || this.namespace(prefix) === undefined) return;
    (this.#seen ??= new Set()).add(prefix);
    this.#addNeed(prefix);
  }

  /** Whether the last child itself declares a prefix. */
  #isDeclared(prefix: string): boolean {
    return this.#childScope !== this.#scope && this.#childScope.declared.has(prefix);
  }

  #addNeed(prefix: string): void {
    const last = this.#children.length - 1;
    const child = this.#children[last];
    if (child === undefined) return;
    if (this.#needs === undefined) {
      this.#needs = [...child.needs];
      this.#children[last] = { nameEnd: child.nameEnd, needs: this.#needs };
    }
    this.#needs.push(prefix);
  }

  /** Lets the last child have the same list as the one before it, if that says the same, since most children are alike. */
  #shareNeeds(): void {
    const needs = this.#needs;
    if (needs === undefined) return;
    this.#needs = undefined;
    this.#seen?.clear();
    const last = this.#children.length - 1;
    const [before, child] = [this.#children[last - 1], this.#children[last]];
    if (before === undefined || child === undefined || before.needs.length !== needs.length) return;
    if (needs.every((prefix, i) => prefix === before.needs[i]))
      this.#children[last] = { nameEnd: child.nameEnd, needs: before.needs };
  }
}
