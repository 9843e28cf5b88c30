/** The namespace declarations that are in force in an element (Namespaces in XML 1.0, section 6). */
export class Scope {
  /** The namespace of names without a prefix; empty: they have none. */
  readonly defaultNamespace: string;

  /**
   * @param declared - what the element declares: namespaces by prefix; the empty prefix stands for the default namespace.
   * @param outer - what is in force around it.
   */
  constructor(
    readonly declared: ReadonlyMap<string, string>,
    readonly outer: Scope | undefined,
  ) {
    this.defaultNamespace = declared.get('') ?? outer?.defaultNamespace ?? '';
  }

  /** The namespace of a prefix; undefined: it is not declared. */
  find(prefix: string): string | undefined {
    let namespace = this.declared.get(prefix);
    for (let { outer } = this; namespace === undefined && outer !== undefined; { outer } = outer)
      namespace = outer.declared.get(prefix);
    return namespace;
  }
}

/** That of a document, around its root. */
export const NO_DECLARATIONS = new Scope(new Map(), undefined);
