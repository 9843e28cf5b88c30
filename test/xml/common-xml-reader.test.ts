import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommonXmlReader } from '../../src/xml/common-xml-reader';

/** The names and texts in a document, or undefined if the reader gives up on it. */
function found(xml: string): string[] | undefined {
  const parts: string[] = [];
  const isRead = new CommonXmlReader(xml, {
    openElement: ({ local, uri, attributes }) =>
      void parts.push(`<{${uri}}${local}`, ...attributes.map((each) => `@{${each.uri}}${each.local}=${each.value}`)),
    addText: (text) => void parts.push(text),
    closeElement: () => void parts.push('>'),
  }).read();
  return isRead ? parts : undefined;
}

const namesOf = (count: number) => Array.from({ length: count }, (_, i) => ` a${String(i)}=""`).join('');

describe('the reader of common XML', () => {
  it.each([
    ['<a/>', ['<{}a', '>']],
    ['<?xml version="1.0" encoding="utf-8"?>\r\n<!-- c --><a></a>\n<!----> ', ['<{}a', '>']],
    ["<?xml version='1.1' standalone='yes' ?><a ></a\n>", ['<{}a', '>']],
    ['<a xmlns=" urn:x "><b xmlns=""/></a>', ['<{urn:x}a', '<{}b', '>', '>']],
    [
      '<p:a p:b="1" b="1" xml:lang="en" xmlns:p="urn:x"/>',
      [...['<{urn:x}a', '@{urn:x}b=1', '@{}b=1', '@{http://www.w3.org/XML/1998/namespace}lang=en', '>']],
    ],
    ['<a b="\r\n\t&#10;\'>" c=\'"\'/>', ['<{}a', "@{}b=  \n'>", '@{}c="', '>']],
    ['<a>x\r\ny\r&lt;&#x1F600;]]&gt;😀<!-- c -->z</a>', ['<{}a', 'x\ny\n<😀]]>😀', 'z', '>']],
    ['<a><![CDATA[<&]]]]><![CDATA[\r\n]]></a>', ['<{}a', '<&]]', '\n', '>']],
    [`<a${namesOf(16)}/>`, ['<{}a', ...Array.from({ length: 16 }, (_, i) => `@{}a${String(i)}=`), '>']],
  ])('reads %s', (xml, parts) => {
    expect(found(xml)).toEqual(parts);
  });

  it.each([
    ['nothing', ' '],
    ['text around the root', '<a/>x'],
    ['a CDATA section around the root', '<a/><![CDATA[]]>'],
    ['a second root', '<a/><a/>'],
    ['an unclosed root', '<a>x'],
    ['an unclosed tag', '<a'],
    ['an unclosed CDATA section', '<a><![CDATA[</a>'],
    ['an end tag of another name', '<a></ab>'],
    ['an end tag too many', '<a/></a>'],
    ['a document type declaration', '<!DOCTYPE a><a/>'],
    ['a processing instruction', '<?b?><a/>'],
    ['another version of XML', '<?xml version="2.0"?><a/>'],
    ['a comment with two hyphens', '<a><!-- -- --></a>'],
    ['a comment that ends with three', '<a><!-- ---></a>'],
    ['the end of a CDATA section in text', '<a>]]></a>'],
    ['an unknown entity', '<a>&b;</a>'],
    ['a forbidden character by reference', '<a>&#1;</a>'],
    ['a character that XML forbids', '<a>\uFFFE</a>'],
    ['a lone surrogate', '<a>\uD800</a>'],
    ['an element name beyond ASCII', '<é/>'],
    ['a name with two colons', '<a xmlns:p="urn:x"><p:b:c/></a>'],
    ['a prefix that is not declared', '<p:a/>'],
    ['such a prefix of an attribute', '<a p:b="1"/>'],
    ['the same attribute twice', '<a b="1" b="1"/>'],
    ['attributes of the same expanded name', '<a p:b="" q:b="" xmlns:p="urn:x" xmlns:q="urn:x"/>'],
    ['the same declaration twice', '<a xmlns="urn:x" xmlns="urn:x"/>'],
    ['a prefix without a namespace', '<a xmlns:p=""/>'],
    ['another namespace for xml', '<a xmlns:xml="urn:x"/>'],
    ['the namespace of xml for another prefix', '<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>'],
    ['an attribute without a value', '<a b/>'],
    ['a tag in a value', '<a b="<"/>'],
    ['attributes without space between them', '<a b=""c=""/>'],
    ['17 attributes', `<a${namesOf(17)}/>`],
    ['a name of 257 characters', `<${'a'.repeat(257)}/>`],
  ])('gives up on %s', (_what, xml) => {
    expect(found(xml)).toBeUndefined();
  });

  it('reads generated messages, right and wrong ones, exactly as saxes does', async () => {
    const script = join(__dirname, '../../scripts/fuzz/envelopes.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, '500', '7']);
    expect(stdout).toMatch(
      /^500 messages \(seed 7\), \d{3} of them right, 9\d\.\d % of those without saxes: no difference\n$/,
    );
  });
});
