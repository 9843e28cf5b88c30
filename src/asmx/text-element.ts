import { create } from 'xmlbuilder2';
import { builderText, xmlText } from './xml';

/** Writes a text with elements around it. */
export type WriteText = (text: string) => string;

/** Stands for the text while the elements are written; no name of an element holds it. */
const PLACE = '?';

/**
 * Makes a writer of nested elements around a text, the outermost name first, all in one namespace. The elements are written
 * once; each call only puts its text between them, and an empty text gives an empty-element tag.
 */
export function textElement(namespace: string, ...names: readonly string[]): WriteText {
  const innermost = names.reduce((parent, name) => parent.ele(builderText(namespace), name), create());
  const write = () => innermost.root().toString({ spaceBeforeSlash: true });
  const empty = write();
  innermost.txt(PLACE);
  const full = write();
  // The last one: the namespace, which stands before it, may hold anything.
  const start = full.lastIndexOf(PLACE);
  const [before, after] = [full.slice(0, start), full.slice(start + PLACE.length)];
  return (text) => (text === '' ? empty : before + xmlText(text) + after);
}
