import { SaxesParser } from 'saxes';
import { Fault, faultEnvelope } from '../../src/soap/fault';
import { SoapVersion } from '../../src/soap/soap-version';
import { stringReply } from '../../src/get-post/reply-format';
import { xmlAttribute, xmlText } from '../../src/xml/characters';

const HARD = ['&x; &lt; &#0; & <a> ]]> "\' \t\n\r', '', ' ', '\u{1F600}\u0085\u2028'];

function textOf(xml: string, element: string): string {
  const parser = new SaxesParser({ xmlns: true });
  let text = '';
  let open = '';
  parser.on('opentag', ({ local }) => {
    open = local;
  });
  parser.on('text', (part) => {
    if (open === element) text += part;
  });
  parser.write(xml).close();
  return text;
}

describe.each(HARD)('the text %j', (text) => {
  it('is read back from the string element', () => {
    expect(textOf(stringReply('http://x/&y;/')(text).body, 'string')).toBe(text);
  });

  it('is read back from a fault', () => {
    const fault = new Fault('Client', text);
    // People read faults, so a carriage return may become a line feed.
    const expected = text.replaceAll('\r', '\n');
    expect(textOf(faultEnvelope(fault, SoapVersion.soap11), 'faultstring')).toBe(expected);
    expect(textOf(faultEnvelope(fault, SoapVersion.soap12), 'Text')).toBe(expected);
  });

  it('is read back from character data and from an attribute', () => {
    expect(textOf(`<a>${xmlText(text)}</a>`, 'a')).toBe(text);
    const parser = new SaxesParser();
    let value = '';
    parser.on('opentag', ({ attributes }) => {
      value = String(attributes.b);
    });
    parser.write(`<a b="${xmlAttribute(text)}"/>`).close();
    expect(value).toBe(text);
  });
});

it('characters that XML forbids are replaced', () => {
  expect(xmlText('\u0000\uFFFE\uD800a')).toBe('\uFFFD\uFFFD\uFFFDa');
  expect(textOf(stringReply('http://x/')('\u0000\uD800').body, 'string')).toBe('\uFFFD\uFFFD');
});
