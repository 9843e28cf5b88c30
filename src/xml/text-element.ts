import { create } from 'xmlbuilder2';
import { builderText, xmlText } from './xml';

/** Writes a text inside one or more elements. */
export type WriteText = (text: string) => string;

/**
 * Makes a writer for a text inside nested elements of one namespace, named from the outermost to the innermost. The tags are
 * made only once. An empty text makes the innermost element an empty-element tag.
 */
export function textElement(namespace: string, ...names: readonly string[]): WriteText {
  const root = names.reduce((parent, name) => parent.ele(builderText(namespace), name), create()).root();
  const empty = root.toString({ spaceBeforeSlash: true });
  const tags = root.toString({ allowEmptyTags: true });
  // A start tag cannot hold this, since attribute values are escaped.
  const end = tags.indexOf('</');
  const [before, after] = [tags.slice(0, end), tags.slice(end)];
  return (text) => (text === '' ? empty : before + xmlText(text) + after);
}
