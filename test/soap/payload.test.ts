import { payloadOf } from '../support/any-message';
import { NAMESPACE, SOAP_11_NAMESPACE } from '../support/bindings';

const message = (inside: string, onEnvelope = '', onOperation = '') =>
  `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"${onEnvelope}><s:Body>` +
  `<t:RecordEvent xmlns:t="${NAMESPACE}"${onOperation}>${inside}</t:RecordEvent></s:Body></s:Envelope>`;

describe('a payload', () => {
  const prefixes = Array.from(
    { length: 220 },
    (_, i) => ` xmlns:p${String(i)}="http://schemas.example.com/ns/${String(i)}/"`,
  );
  const mentions = Array.from({ length: 220 }, (_, i) => `p${String(i)}:`).join(' ');
  const children = '<a/>'.repeat(3000);

  it.each([
    ['no element mentions', children],
    ['one text mentions', `<m>${mentions}</m>${children}`],
    ['one attribute mentions', `<m a="${mentions}"/>${children}`],
    ['a CDATA section mentions', `<m><![CDATA[${mentions}]]></m>${children}`],
    ['a comment mentions', `<!--${mentions}-->${children}`],
    ['an instruction mentions', `<?x ${mentions}?>${children}`],
    ['a text between the elements mentions', `${children}${mentions}`],
    ['the last element mentions', `${children}<m>${mentions}</m>`],
    ['elements deep inside mention', `<m>${'<n>'.repeat(40)}${mentions}${'</n>'.repeat(40)}</m>${children}`],
  ])('does not declare, on elements that do not use them, 220 prefixes that %s', (_where, inside) => {
    const xml = message(inside, prefixes.join(''));
    expect(payloadOf(xml)?.length).toBeLessThan(xml.length);
  });

  const long = `urn:${'x'.repeat(10_000)}`;
  it.each([
    ['a prefix', message('<x:a/>'.repeat(3000), ` xmlns:x="${long}"`)],
    ['a default namespace', message('<a/>'.repeat(3000), '', ` xmlns="${long}"`)],
    ['attributes', message('<a x:b="1"/>'.repeat(3000), ` xmlns:x="${long}"`)],
    ['values', message('<a b="x:c"/>'.repeat(3000), ` xmlns:x="${long}"`)],
    ['text', message('<a>x:c</a>'.repeat(3000), ` xmlns:x="${long}"`)],
    ['quotes in the namespace', message('<x:a/>'.repeat(3000), ` xmlns:x='${'"'.repeat(300)}'`)],
  ])('that %s would make many times as long is refused', (_what, xml) => {
    expect(() => payloadOf(xml)).toThrow('would grow by');
  });

  it('keeps the service’s namespace on thousands of small elements', () => {
    const xml = message('<i>1</i>'.repeat(20_000), '', ` xmlns="${NAMESPACE}"`);
    expect(payloadOf(xml)).toHaveLength(20_000 * `<i xmlns="${NAMESPACE}">1</i>`.length);
  });

  const body = (inside: string) => `<s:Envelope xmlns:s="${SOAP_11_NAMESPACE}"><s:Body>${inside}</s:Body></s:Envelope>`;
  const RECORD_TAG = `RecordEvent xmlns="${NAMESPACE}"`;
  it.each([
    ['elements beside the operation’s', `<${RECORD_TAG}><a href="#1"/></RecordEvent><multiRef id="1">x</multiRef>`],
    ['text after the operation’s', `<${RECORD_TAG}><a/></RecordEvent>x`],
    ['attributes of the operation’s', `<${RECORD_TAG} number="7"/>`],
  ])('with %s is all of the body', (_what, inside) => {
    expect(payloadOf(body(inside))).toBe(inside);
  });

  it.each([
    ['encodingStyle', 's:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"'],
    ['a type', 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="t"'],
    ['a language', 'xml:lang="en"'],
  ])('is the content of the operation’s element if that only has %s', (_what, attribute) => {
    expect(payloadOf(body(`<${RECORD_TAG} ${attribute}><a xmlns=""/></RecordEvent><!-- -->`))).toBe('<a xmlns=""/>');
  });
});
