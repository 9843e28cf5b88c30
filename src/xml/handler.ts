/** Namespace and local name of an element. */
export interface ElementName {
  readonly namespace: string;
  readonly name: string;
}

/** An attribute that declares no namespace. */
export interface Attribute {
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly value: string;
}

/** The start tag of an element. */
export interface Tag {
  /** With its prefix. */
  readonly name: string;
  readonly local: string;
  readonly uri: string;
  readonly attributes: readonly Attribute[];
  /** The declarations in force inside the element, its own included. */
  readonly scope: Scope;
}

/** Receives what a reader finds in an XML document, in order. What it throws ends the reading. Offsets are in UTF-16 code units. */
export interface XmlHandler {
  openElement(tag: Tag, start: number, end: number): void;
  /** Text or a CDATA section, with its references resolved. A comment divides a text in two. */
  addText(text: string): void;
  /** The end of an element, and the offset at which its content ends. */
  closeElement(contentEnd: number): void;
}

/** Thrown for a text that is not well-formed XML, has a document type declaration or exceeds a limit. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const MAX_DEPTH = 64;
const MAX_ELEMENTS = 250_000;

/** @throws {XmlError} a document has more elements, or more of them open, than is read. */
export function checkElements(count: number, open: number): void {
  if (count > MAX_ELEMENTS) throw tooMuch(`more than ${String(MAX_ELEMENTS)} elements`);
  if (open > MAX_DEPTH) throw tooMuch(`elements nested deeper than ${String(MAX_DEPTH)} levels`);
}

export function tooMuch(what: string): XmlError {
  return new XmlError(`The XML has ${what}, which is more than this service reads.`);
}

/** The namespace declarations in force in an element (Namespaces in XML 1.0, section 6). */
export class Scope {
  /** The namespace of names without a prefix; empty if they have none. */
  readonly defaultNamespace: string;

  constructor(
    /** Namespaces that the element itself declares, by prefix; the empty prefix is the default namespace. */
    readonly declared: ReadonlyMap<string, string>,
    readonly outer: Scope | undefined,
  ) {
    this.defaultNamespace = declared.get('') ?? outer?.defaultNamespace ?? '';
  }

  /** The namespace of a prefix, unless it is not declared. */
  find(prefix: string): string | undefined {
    return this.declared.get(prefix) ?? this.outer?.find(prefix);
  }

  all(): Map<string, string> {
    const all = this.outer?.all() ?? new Map<string, string>();
    for (const [prefix, namespace] of this.declared) all.set(prefix, namespace);
    return all;
  }
}

/** The declarations around the root of a document. */
export const NO_DECLARATIONS = new Scope(new Map(), undefined);
