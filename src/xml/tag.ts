import type { Scope } from './scope';

/** An attribute, unless it declares a namespace. */
export interface Attribute {
  /** With its prefix. */
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly value: string;
}

/** The start tag of an element. */
export interface Tag {
  /** With its prefix. */
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly attributes: readonly Attribute[];
  /** The declarations in force inside the element, its own included. */
  readonly scope: Scope;
}

/** Is told what a reader finds in an XML text, in order. What it throws ends the reading. Offsets are in UTF-16 code units. */
export interface XmlHandler {
  /** A start tag, and where it starts and ends. */
  openElement(tag: Tag, start: number, end: number): void;
  /** Text or a CDATA section, with its references resolved. Comments between two texts are left out, and divide them. */
  addText(text: string): void;
  /** The end of an element, and where its content ends. */
  closeElement(contentEnd: number): void;
}
