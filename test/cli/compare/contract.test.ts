import { differencesOf } from '../../../src/cli/compare/contract';
import { Wsdl, WsdlError } from '../../../src/cli/compare/wsdl';
import { RECORDED_WSDL } from '../../support/recorded-service';

const ORIGINAL = new Wsdl(RECORDED_WSDL);

/** The original's WSDL with the first match of a text, or all of them, replaced. */
function changed(part: string | RegExp, other: string): string {
  const text = typeof part === 'string' ? RECORDED_WSDL.replace(part, () => other) : RECORDED_WSDL.replace(part, other);
  if (text === RECORDED_WSDL) throw new Error('nothing was changed');
  return text;
}

function differences(text: string): string[] {
  return differencesOf(ORIGINAL.contract, new Wsdl(text).contract);
}

const RESULT = '<s:element minOccurs="0" maxOccurs="1" name="HelloWorldResult" type="s:string" />';
const PLANTED: readonly (readonly [name: string, part: string | RegExp, other: string, found: string])[] = [
  [
    'a renamed service',
    '<wsdl:service name="WebHook">',
    '<wsdl:service name="Hook">',
    'Service WebHook is only in the old',
  ],
  [
    'a renamed port',
    'port name="WebHookSoap12"',
    'port name="Soap12"',
    'Service WebHook, port Soap12 is only in the new',
  ],
  [
    'a port with another binding',
    'port name="WebHookSoap12" binding="tns:WebHookSoap12"',
    'port name="WebHookSoap12" binding="tns:WebHookSoap"',
    'port WebHookSoap12: binding is tns:WebHookSoap12 in the old service, tns:WebHookSoap in',
  ],
  [
    'a missing port',
    /<wsdl:port name="WebHookHttpPost".*?<\/wsdl:port>/s,
    '',
    'port WebHookHttpPost is only in the old',
  ],
  [
    'a missing binding',
    /<wsdl:binding name="WebHookHttpGet".*?<\/wsdl:binding>/s,
    '',
    'Binding WebHookHttpGet is only in the old',
  ],
  [
    'a binding in another SOAP version',
    '<soap12:binding',
    '<soap:binding',
    'Binding WebHookSoap12: protocol is SOAP 1.2 in the old service, SOAP 1.1',
  ],
  [
    'another transport',
    'transport="http://schemas.xmlsoap.org/soap/http"',
    'transport="http://schemas.xmlsoap.org/soap/smtp"',
    'Binding WebHookSoap: transport is http',
  ],
  [
    'another HTTP verb',
    'verb="GET"',
    'verb="PUT"',
    'Binding WebHookHttpGet: protocol is HTTP GET in the old service, HTTP PUT',
  ],
  [
    'another port type',
    'type="tns:WebHookHttpGet"',
    'type="tns:WebHookHttpPost"',
    'Binding WebHookHttpGet: port type is tns:WebHookHttpGet',
  ],
  [
    'an operation missing in a binding',
    /<wsdl:operation name="GetEvents">\s*<soap12:.*?<\/wsdl:operation>/s,
    '',
    'Binding WebHookSoap12, operation GetEvents is only in the old',
  ],
  [
    'an operation missing in a port type',
    /<wsdl:operation name="GetEvents">\s*<wsdl:input message="tns:GetEventsHttpGetIn".*?<\/wsdl:operation>/s,
    '',
    'Port type WebHookHttpGet, operation GetEvents is only in the old',
  ],
  [
    'an operation in the wrong case',
    /operation name="HelloWorld"/g,
    'operation name="Helloworld"',
    'Port type WebHookSoap, operation Helloworld is only in the new',
  ],
  [
    'another SOAPAction',
    'soapAction="http://tempuri.org/HelloWorld"',
    'soapAction="urn:HelloWorld"',
    'Binding WebHookSoap, operation HelloWorld: SOAPAction is http://tempuri.org/HelloWorld in the old service, urn:HelloWorld in',
  ],
  [
    'no SOAPAction',
    'soapAction="http://tempuri.org/HelloWorld"',
    '',
    'SOAPAction is http://tempuri.org/HelloWorld in the old service, empty in',
  ],
  [
    'style rpc',
    'GetEvents" style="document"',
    'GetEvents" style="rpc"',
    'operation GetEvents: style is document in the old service, rpc in',
  ],
  [
    'use encoded',
    '<soap12:body use="literal" />',
    '<soap12:body use="encoded" />',
    'input, soap:body: use is literal in the old service, encoded in',
  ],
  ['another location', 'location="/HelloWorld"', 'location="/hello"', 'operation HelloWorld: location is /HelloWorld'],
  [
    'parameters in the path',
    '<http:urlEncoded />',
    '<http:urlReplacement />',
    'Binding WebHookHttpGet, operation RecordEvent, input, http:urlReplacement is only in the new',
  ],
  [
    'another content type of the form',
    'type="application/x-www-form-urlencoded"',
    'type="text/xml"',
    'input, mime:content: type is application/x-www-form-urlencoded',
  ],
  [
    'another body part',
    '<mime:mimeXml part="Body" />',
    '<mime:mimeXml part="Content" />',
    'output, mime:mimeXml: part is Body',
  ],
  [
    'a header in the body',
    '<soap:body use="literal" />',
    '<soap:body use="literal" /><soap:header message="tns:HelloWorldSoapIn" part="parameters" use="literal" />',
    'input, soap:header is only in the new',
  ],
  [
    'another message',
    'input message="tns:HelloWorldSoapIn"',
    'input message="tns:GetEventsSoapIn"',
    'operation HelloWorld, input: message is tns:HelloWorldSoapIn',
  ],
  [
    'a one-way operation',
    '<wsdl:output message="tns:RecordEventSoapOut" />',
    '',
    'Port type WebHookSoap, operation RecordEvent, output is only in the old',
  ],
  [
    'a fault',
    '<wsdl:output message="tns:RecordEventSoapOut" />',
    '<wsdl:output message="tns:RecordEventSoapOut" /><wsdl:fault name="F" message="tns:HelloWorldSoapOut" />',
    'fault F is only in the new',
  ],
  [
    'a missing message',
    '<wsdl:message name="HelloWorldHttpGetIn" />',
    '',
    'Message HelloWorldHttpGetIn is only in the old',
  ],
  [
    'a renamed part',
    'part name="parameters" element="tns:GetEvents"',
    'part name="body" element="tns:GetEvents"',
    'Message GetEventsSoapIn, part body is only in the new',
  ],
  [
    'another element of a part',
    'part name="parameters" element="tns:GetEvents"',
    'part name="parameters" element="tns:HelloWorld"',
    'part parameters: element is tns:GetEvents in the old service, tns:HelloWorld',
  ],
  [
    'a part with a type',
    '<wsdl:message name="GetEventsHttpGetIn" />',
    '<wsdl:message name="GetEventsHttpGetIn"><wsdl:part name="after" type="s:string" /></wsdl:message>',
    'Message GetEventsHttpGetIn, part after is only in the new',
  ],
  [
    'another type',
    RESULT,
    RESULT.replace('s:string', 's:int'),
    'Element HelloWorldResponse, element HelloWorldResult: type is xs:string in the old service, xs:int in',
  ],
  [
    'another minOccurs',
    RESULT,
    RESULT.replace('minOccurs="0"', ''),
    'element HelloWorldResult: minOccurs is 0 in the old service, 1 in',
  ],
  [
    'another maxOccurs',
    RESULT,
    RESULT.replace('maxOccurs="1"', 'maxOccurs="unbounded"'),
    'element HelloWorldResult: maxOccurs is 1 in the old service, unbounded',
  ],
  [
    'a nillable result',
    RESULT,
    RESULT.replace('/>', 'nillable="1" />'),
    'element HelloWorldResult: nillable is false in the old service, true in',
  ],
  [
    'a string that is not nillable',
    'nillable="true"',
    '',
    'Element string: nillable is true in the old service, false in',
  ],
  [
    'an unqualified result',
    'elementFormDefault="qualified"',
    '',
    'element RecordEventResult: form is qualified in the old service, unqualified in',
  ],
  [
    'a renamed result',
    RESULT,
    RESULT.replace('HelloWorldResult', 'Result'),
    'Element HelloWorldResponse, element Result is only in the new',
  ],
  [
    'a parameter',
    /<s:element name="HelloWorld">\s*<s:complexType \/>/,
    `<s:element name="HelloWorld"><s:complexType><s:sequence><s:element name="a" type="s:int" /></s:sequence></s:complexType>`,
    'Element HelloWorld, sequence is only in the new',
  ],
  [
    'an attribute',
    /<s:element name="HelloWorld">\s*<s:complexType \/>/,
    `<s:element name="HelloWorld"><s:complexType><s:attribute name="a" type="s:int" /></s:complexType>`,
    'Element HelloWorld, attribute a is only in the new',
  ],
  [
    'a schema of another namespace',
    '<wsdl:types>',
    '<wsdl:types><s:schema targetNamespace="urn:x"><s:simpleType name="t"><s:restriction base="s:int" /></s:simpleType></s:schema>',
    'Schema urn:x is only in the new',
  ],
  [
    'a policy',
    '<soap12:binding',
    '<p:Policy xmlns:p="urn:p" p:v="1" /><soap12:binding',
    'Binding WebHookSoap12, {urn:p}Policy is only in the new',
  ],
];

describe('the contracts of two services', () => {
  it.each(PLANTED)('differ by %s', (_name, part, other, found) => {
    const all = differences(changed(part, other));
    expect(all.filter((difference) => difference.includes(found))).toHaveLength(1);
    // What follows from one change is named as well, but nothing else.
    expect(all.length).toBeLessThanOrEqual(14);
  });

  it.each([
    ['documentation', changed(/<wsdl:documentation>.*?<\/wsdl:documentation>/gs, '')],
    ['addresses', changed(/address location="[^"]*"/g, 'address location="https://new.example.com/x"')],
    ['a second address', changed(/(<soap:address [^>]*>)/g, '$1$1')],
    ['prefixes', changed(/wsdl:/g, 'w:').replace('xmlns:wsdl=', 'xmlns:w=')],
    ['white space and comments', changed(/>\s+</g, '><!-- a comment -->\n\n<')],
    [
      'the order of operations',
      changed(/(<wsdl:operation name="RecordEvent">.*?<\/wsdl:operation>)(.*?)(?=<\/wsdl:portType>)/s, '$2$1'),
    ],
    ['defaults that are written', changed(/<s:element name="string"/, '<s:element abstract="false" name="string"')],
    [
      'the style at the binding',
      changed(/ style="document"/g, '').replace('<soap:binding', '<soap:binding style="document"'),
    ],
    ['an empty sequence', changed(/<s:complexType \/>/g, '<s:complexType><s:sequence /></s:complexType>')],
    ['the order of attributes', changed('minOccurs="0" maxOccurs="1"', 'maxOccurs="1" minOccurs="0"')],
  ])('do not differ by %s', (_name, text) => {
    expect(differences(text)).toEqual([]);
  });

  it('are compared by names relative to their namespaces', () => {
    expect(differences(RECORDED_WSDL.replaceAll('http://tempuri.org/', 'http://example.com/hooks/'))).toEqual([]);
    for (const namespace of ['urn:shop:hooks', 'http://example.com/hooks']) {
      const actions = RECORDED_WSDL.replaceAll('soapAction="http://tempuri.org/', `soapAction="${namespace}/`);
      expect(differences(actions.replaceAll('http://tempuri.org/', namespace))).toEqual([]);
      const [joined] = differences(RECORDED_WSDL.replaceAll('http://tempuri.org/', namespace));
      expect(joined).toContain(
        `SOAPAction is http://tempuri.org/GetEvents in the old service, ${namespace}GetEvents in the new one.`,
      );
    }
    const half = RECORDED_WSDL.replaceAll('"http://tempuri.org/"', '"http://example.com/hooks/"');
    const [first, ...rest] = differences(half);
    expect(first).toBe(
      'Binding WebHookSoap, operation GetEvents: SOAPAction is http://tempuri.org/GetEvents in the old service, ' +
        'http://tempuri.org/GetEvents in the new one.',
    );
    expect(rest).toHaveLength(5);
  });

  it('differ by the order of elements that a client must keep', () => {
    const elements = ['a', 'b'].map((name) => `<s:element name="${name}" type="s:int" />`);
    const withParameters = (order: readonly string[]): Wsdl =>
      new Wsdl(
        changed(
          /<s:element name="HelloWorld">\s*<s:complexType \/>/,
          `<s:element name="HelloWorld"><s:complexType><s:sequence>${order.join('')}</s:sequence></s:complexType>`,
        ),
      );
    const [old, other] = [withParameters(elements), withParameters(elements.toReversed())];
    expect(differencesOf(old.contract, other.contract)).toEqual([
      'Element HelloWorld, sequence: the order is a, b in the old service, b, a in the new one.',
    ]);
  });

  it('differ by nothing that a name could be taken for', () => {
    const named = changed('name="string" nillable', 'name="__proto__" nillable');
    expect(differences(named)).toEqual([
      'Element __proto__ is only in the new service.',
      'Element string is only in the old service.',
    ]);
  });
});

describe('a contract that is nested deeply', () => {
  it('has facts of which no name is long', () => {
    const nested = `<s:group name="${'g'.repeat(1000)}">`.repeat(90) + '</s:group>'.repeat(90);
    const { contract } = new Wsdl(changed('<s:element name="RecordEvent">', `${nested}<s:element name="RecordEvent">`));
    expect(Math.max(...[...contract.facts.keys()].map(({ length }) => length))).toBeLessThan(600);
    expect(differencesOf(ORIGINAL.contract, contract)).toEqual([
      expect.stringMatching(/^Group g+… is only in the new/),
    ]);
  });
});

describe('a document that is not a WSDL', () => {
  it.each([
    ['an HTML page', '<!DOCTYPE html><html></html>', 'It is an HTML page, not a WSDL.'],
    ['XML that is cut off', RECORDED_WSDL.slice(0, 900), 'It is not well-formed XML'],
    ['nothing', '', 'It is not well-formed XML'],
    [
      'a document type declaration',
      `<!DOCTYPE a []>${RECORDED_WSDL.replace(/^.*\n/, '')}`,
      'document type declaration',
    ],
    ['other XML', '<a xmlns="urn:x"/>', 'It is not a WSDL 1.1: its root element is {urn:x}a.'],
    ['a deep document', '<a>'.repeat(200), 'more than 100 levels'],
    ['a WSDL without a service', changed(/<wsdl:service .*<\/wsdl:service>/s, ''), 'It describes no service.'],
    [
      'a WSDL in parts',
      changed('<wsdl:types>', '<wsdl:import namespace="urn:x" location="b.wsdl" /><wsdl:types>'),
      'b.wsdl, which is not read',
    ],
    [
      'a schema elsewhere',
      changed('<s:element name="RecordEvent">', '<s:include schemaLocation="a.xsd" /><s:element name="RecordEvent">'),
      'a.xsd, which is not read',
    ],
  ])('is refused: %s', (_name, text, message) => {
    const read = (): Wsdl => new Wsdl(text);
    expect(read).toThrow(WsdlError);
    expect(read).toThrow(message);
  });
});
