import { ContractError, OperationInput, type Parameter } from '../../src/contract/schema';
import { XmlElement } from '../../src/xml/xml-tree';

/** What an operation Op takes whose type has this content, beside further declarations in the schema. */
function inputOf(content: string, others = '', attributes = 'elementFormDefault="qualified"') {
  const schema = `<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema" xmlns:tns="urn:x" targetNamespace="urn:x" ${attributes}>
    <s:element name="Op"><s:complexType>${content}</s:complexType></s:element>${others}</s:schema>`;
  return OperationInput.read(XmlElement.read(schema), 'Op');
}

const sequence = (particles: string) => `<s:sequence>${particles}</s:sequence>`;
const element = (attributes: string, content = '') => `<s:element name="p" ${attributes}>${content}</s:element>`;
const choices = (...values: string[]) => values.map((value) => `<s:enumeration value="${value}" />`).join('');
/** A simple type called Color. */
const declared = (base: string, facets: string) =>
  `<s:simpleType name="Color"><s:restriction base="${base}">${facets}</s:restriction></s:simpleType>`;

function parameter(particle: string, others = ''): Parameter {
  const [only, ...more] = inputOf(sequence(particle), others).parameters;
  if (only === undefined || more.length > 0) throw new Error('There is not one parameter.');
  return only;
}

describe('an operation takes', () => {
  it('nothing where its type is empty', () => {
    for (const content of ['', sequence(''), '<s:annotation />'])
      expect(inputOf(content)).toEqual({ parameters: [], takesAnyXml: false });
  });

  it('the elements of the sequence, in order, and any XML', () => {
    const { parameters, takesAnyXml } = inputOf(
      sequence('<s:element name="b" type="s:int" /><s:element name="a" type="s:string" /><s:any />'),
    );
    expect(parameters.map(({ name, type }) => [name, type.name])).toEqual([
      ['b', 'int'],
      ['a', 'string'],
    ]);
    expect(takesAnyXml).toBe(true);
  });

  it.each<[string, boolean]>([
    ['', true],
    ['minOccurs="0"', false],
    ['minOccurs="1" maxOccurs="1" nillable="true"', true],
  ])('a parameter with %j, which is required: %p', (attributes, isRequired) => {
    expect(parameter(element(`type="s:string" ${attributes}`)).isRequired).toBe(isRequired);
  });

  it('a parameter with its documentation', () => {
    const note = '<s:annotation><s:documentation> The first. </s:documentation></s:annotation>';
    expect(parameter(element('type="s:string"', note)).documentation).toBe('The first.');
    expect(parameter(element('type="s:string"')).documentation).toBe('');
  });

  it('an enumeration that the schema declares', () => {
    const { type } = parameter(element('type="tns:Color"'), declared('s:string', choices('red', 'green')));
    expect([type.name, type.choices]).toEqual(['string', ['red', 'green']]);
    expect(type.read('red')).toBe('red');
    expect(() => type.read('blue')).toThrow('It must be one of red, green.');
  });
});

describe('the start is refused', () => {
  const P = 'The parameter p of the operation Op';
  const plain = 'type="s:string"';
  it.each<[string, string]>([
    [
      sequence(element('type="s:float"')),
      `${P} has the type s:float, which is not supported. Use one of string, boolean,`,
    ],
    [sequence(element('type="s:toString"')), `${P} has the type s:toString, which is not supported.`],
    [
      sequence(element('type="string"')),
      `${P} has the type string, which the schema does not declare as a simple type.`,
    ],
    [sequence(element('type="tns:Nope"')), `${P} has the type tns:Nope, which the schema does not declare`],
    [sequence(element('')), `${P} names no type.`],
    [sequence(element('', '<s:simpleType />')), `${P} names no type.`],
    [sequence(element(`${plain} default="x"`)), `${P} has default, which is not supported.`],
    [sequence(element(`${plain} fixed="x"`)), `${P} has fixed, which is not supported.`],
    [sequence(element(`${plain} form="unqualified"`)), `${P} has form, which is not supported.`],
    [sequence(element(plain) + element(plain)), `${P} is declared twice.`],
    ...['minOccurs="x"', 'minOccurs="2" maxOccurs="2"', 'maxOccurs="unbounded"', 'minOccurs="0" maxOccurs="0"'].map(
      (occurs): [string, string] => [
        sequence(element(`${plain} ${occurs}`)),
        `${P} is neither required nor optional: minOccurs is 0 or 1, and maxOccurs is 1.`,
      ],
    ),
    [sequence('<s:choice />'), 'The element Op has xs:choice, which is not supported.'],
    ['<s:all />', 'The type of the element Op has xs:all, which is not supported.'],
    [`<s:sequence maxOccurs="2" />`, 'The sequence in the element Op has maxOccurs, which is not supported.'],
    [`${sequence('')}<s:attribute name="x" />`, 'The type of the element Op has xs:attribute, which is not supported.'],
  ])('for %s', (content, message) => {
    expect(() => inputOf(content)).toThrow(ContractError);
    expect(() => inputOf(content)).toThrow(message);
  });

  it.each<[string, string]>([
    ['<s:simpleType name="Color"><s:list itemType="s:int" /></s:simpleType>', 'has xs:list, which is not supported.'],
    ['<s:simpleType name="Color" />', `${P} has a simple type that is not a restriction of a built-in one.`],
    [declared('tns:Color', choices('a')), `${P} has a simple type that is not a restriction of a built-in one.`],
    [declared('s:float', choices('1')), `${P} has the type s:float, which is not supported.`],
    [declared('s:string', ''), `${P} has a restriction without an enumeration.`],
    [
      declared('s:int', '<s:maxInclusive value="2" />'),
      `${P} has a restriction of int that has xs:maxInclusive, which is not supported.`,
    ],
    [declared('s:int', choices('1', 'x')), `${P} has a choice that is not a value of the type int.`],
  ])('for a parameter of the type %s', (type, message) => {
    expect(() => inputOf(sequence(element('type="tns:Color"')), type)).toThrow(ContractError);
    expect(() => inputOf(sequence(element('type="tns:Color"')), type)).toThrow(message);
  });

  it('for parameters without a namespace', () => {
    expect(() => inputOf(sequence(element(plain)), '', '')).toThrow(
      new ContractError(`${P} has no namespace. The schema needs elementFormDefault="qualified".`),
    );
  });

  it('for an operation whose element is missing, or has a type elsewhere', () => {
    const schema = XmlElement.read(
      '<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema"><s:element name="Op" /></s:schema>',
    );
    expect(() => OperationInput.read(schema, 'Other')).toThrow(new ContractError('The schema has no element Other.'));
    expect(() => OperationInput.read(schema, 'Op')).toThrow(
      new ContractError('The element Op has no complex type of its own.'),
    );
  });
});
