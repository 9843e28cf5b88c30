import { Fault, faultEnvelope } from '../../src/soap/fault';
import { SoapVersion } from '../../src/soap/soap-version';
import { stringReply } from '../../src/get-post/reply-format';
import { xmlAttribute, xmlText } from '../../src/xml/characters';
import { XmlElement } from '../../src/xml/xml-tree';
import { elementsIn } from '../support/xml';

const HARD = ['&x; &lt; &#0; & <a> ]]> "\' \t\n\r', '', ' ', '\u{1F600}\u0085\u2028'];

const stringOf = (text: string, namespace: string) => XmlElement.read(stringReply(namespace)(text).body).text;

describe.each(HARD)('the text %j', (text) => {
  it('is read back from the string element', () => {
    expect(stringOf(text, 'http://x/&y;/')).toBe(text);
  });

  it.each([
    ['faultstring', SoapVersion.soap11],
    ['Text', SoapVersion.soap12],
  ] as const)('is read back from the %s of a fault', (name, version) => {
    // People read faults, so a carriage return may become a line feed.
    expect(elementsIn(faultEnvelope(new Fault('Client', text), version), name)[0]?.text).toBe(
      text.replaceAll('\r', '\n'),
    );
  });

  it('is read back from character data and from an attribute', () => {
    const element = XmlElement.read(`<a b="${xmlAttribute(text)}">${xmlText(text)}</a>`);
    expect([element.text, element.attribute('b')]).toEqual([text, text]);
  });
});

it('characters that XML forbids are replaced', () => {
  expect(xmlText('\u0000\uFFFE\uD800a')).toBe('\uFFFD\uFFFD\uFFFDa');
  expect(stringOf('\u0000\uD800', 'http://x/')).toBe('\uFFFD\uFFFD');
});
