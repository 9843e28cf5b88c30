import type { Element } from '@oozcitak/dom/lib/dom/interfaces';
import { create } from 'xmlbuilder2';
import { childElements } from '../../src/xml/xml-builder';

const XML = '<r xmlns="urn:a">x<a/><b><a id="deep"/></b><!-- a --><a/><x:a xmlns:x="urn:b"/><a xmlns=""/></r>';

describe('the child elements', () => {
  const root = create(XML).root().node as unknown as Element;
  const names = (found: readonly Element[]) => found.map(({ localName }) => localName);

  it('are those of the namespace, in order, and none that is deeper', () => {
    expect(names(childElements(root, 'urn:a'))).toEqual(['a', 'b', 'a']);
    expect(names(childElements(root, 'urn:b'))).toEqual(['a']);
  });

  it('may be chosen by their local name', () => {
    const found = childElements(root, 'urn:a', 'a');
    expect(found.map((element) => element.hasAttribute('id'))).toEqual([false, false]);
    expect(childElements(root, 'urn:a', 'c')).toEqual([]);
  });
});
