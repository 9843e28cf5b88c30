import { contractLines, differenceOf } from '../../../src/cli/compare/canonical';
import { readWsdl } from '../../../src/cli/compare/wsdl';
import { XmlElement } from '../../../src/xml/xml-tree';
import { RECORDED_WSDL } from '../../support/recorded-service';

const ORIGINAL = readWsdl(RECORDED_WSDL).lines;

/** The original's WSDL with the first match of a text, or all of them, replaced. */
function changed(part: string | RegExp, other: string): string {
  const text = typeof part === 'string' ? RECORDED_WSDL.replace(part, () => other) : RECORDED_WSDL.replace(part, other);
  if (text === RECORDED_WSDL) throw new Error('nothing was changed');
  return text;
}

/** The lines that differ from those of the original's WSDL. */
function differing(text: string): string[] {
  const { lines } = differenceOf(ORIGINAL, contractLines(XmlElement.read(text)));
  return lines.slice(2).filter((line) => /^ {2}[-+]/.test(line));
}

const elements = ['a', 'b'].map((name) => `<s:element name="${name}" type="s:int" />`);
const withParameters = (order: readonly string[]): string =>
  changed(
    /<s:element name="HelloWorld">\s*<s:complexType \/>/,
    `<s:element name="HelloWorld"><s:complexType><s:sequence>${order.join('')}</s:sequence></s:complexType>`,
  );

describe('the contracts of two services', () => {
  it.each([
    ['a service', '<wsdl:service name="WebHook">', '<wsdl:service name="Hook">', '<wsdl:service name="Hook">'],
    [
      'a binding of a port',
      'port name="WebHookSoap12" binding="tns:WebHookSoap12"',
      'port name="WebHookSoap12" binding="tns:WebHookSoap"',
      '<wsdl:port binding="tns:WebHookSoap" name="WebHookSoap12"/>',
    ],
    ['a SOAPAction', 'soapAction="http://tempuri.org/HelloWorld"', 'soapAction="urn:H"', 'soapAction="urn:H"'],
    ['a type', /name="HelloWorldResult" type="s:string"/, 'name="HelloWorldResult" type="s:int"', 'type="xs:int"'],
    ['the form of elements', 'elementFormDefault="qualified"', '', '<xs:schema targetNamespace='],
  ])('differ by %s', (_name, part, other, found) => {
    const lines = differing(changed(part, other));
    expect(lines.filter((line) => line.startsWith('  +') && line.includes(found))).toHaveLength(1);
    expect(lines.length).toBeLessThanOrEqual(12);
  });

  it('differ by the order of elements that a client must keep', () => {
    const [old, other] = [elements, elements.toReversed()].map((order) => readWsdl(withParameters(order)).lines);
    expect(differenceOf(old ?? [], other ?? [])).toMatchObject({ places: 2 });
  });

  it('are shown with six lines around a difference', () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${String(i)}`);
    const shown = differenceOf(lines, lines.with(10, 'x')).lines;
    expect([shown.length, shown[2], shown[8], shown[9]]).toEqual([16, '    line 4', '  - line 10', '  + x']);
  });

  it('that differ much are cut', () => {
    const { lines } = differenceOf(
      Array.from({ length: 5000 }, (_, i) => `line ${String(i)}`),
      ['x'.repeat(5000)],
    );
    expect([lines.length, lines.at(-1), lines.every((line) => line.length <= 2001)]).toEqual([
      203,
      '  … and more lines',
      true,
    ]);
  });

  it.each([
    ['documentation', changed(/<wsdl:documentation>.*?<\/wsdl:documentation>/gs, '')],
    ['addresses', changed(/address location="[^"]*"/g, 'address location="https://new.example.com/x"')],
    ['prefixes', changed(/wsdl:/g, 'w:').replace('xmlns:wsdl=', 'xmlns:w=')],
    ['white space and comments', changed(/>\s+</g, '><!-- a comment -->\n\n<')],
    [
      'the order of operations',
      changed(/(<wsdl:operation name="RecordEvent">.*?<\/wsdl:operation>)(.*?)(?=<\/wsdl:portType>)/s, '$2$1'),
    ],
    ['the order of elements in a schema', changed(/(<s:schema .*?>)(.*)(<s:element name="string".*?>)/s, '$1$3$2')],
    ['an empty sequence', changed(/<s:complexType \/>/g, '<s:complexType><s:sequence /></s:complexType>')],
    ['the order of attributes', changed('minOccurs="0" maxOccurs="1"', 'maxOccurs="1" minOccurs="0"')],
  ])('do not differ by %s', (_name, text) => {
    expect(differing(text)).toEqual([]);
  });
});

describe('a document that is not a WSDL', () => {
  it.each([
    ['an HTML page', '<!DOCTYPE html><html></html>', 'It is an HTML page, not a WSDL.'],
    ['XML that is cut off', RECORDED_WSDL.slice(0, 900), /Line \d+, position \d+/],
    [
      'a document type declaration',
      `<!DOCTYPE a []>${RECORDED_WSDL.replace(/^.*\n/, '')}`,
      'document type declaration',
    ],
    ['other XML', '<a xmlns="urn:x"/>', 'It is not a WSDL 1.1: its root element is a.'],
    ['a WSDL without a service', changed(/<wsdl:service .*<\/wsdl:service>/s, ''), 'It describes no service.'],
  ])('is refused: %s', (_name, text, message) => {
    expect(() => readWsdl(text)).toThrow(message);
  });
});
