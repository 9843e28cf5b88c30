/** Namespace and local name of an element. */
export interface ElementName {
  readonly namespace: string;
  readonly name: string;
}

/** A name to be written as text or in an attribute value, with its prefix. */
export interface QualifiedName extends ElementName {
  readonly prefix: string;
}
