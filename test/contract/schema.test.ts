import { operationInput, SchemaError, type Parameter } from '../../src/contract/schema';
import { readXml } from '../../src/xml/xml-tree';

/** What an operation Op takes whose type has this content, beside further declarations in the schema. */
function inputOf(content: string, others = '', attributes = 'elementFormDefault="qualified"') {
  const schema = `<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema" xmlns:tns="urn:x" targetNamespace="urn:x" ${attributes}>
    <s:element name="Op"><s:complexType>${content}</s:complexType></s:element>${others}</s:schema>`;
  return operationInput(readXml(schema), 'Op');
}

const sequence = (particles: string) => `<s:sequence>${particles}</s:sequence>`;
const element = (attributes: string, content = '') => `<s:element name="p" ${attributes}>${content}</s:element>`;
const restriction = (base: string, facets: string) =>
  `<s:simpleType><s:restriction base="${base}">${facets}</s:restriction></s:simpleType>`;

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

  it.each<[string, number, number]>([
    ['', 1, 1],
    ['minOccurs="0"', 0, 1],
    ['minOccurs="0" maxOccurs="unbounded"', 0, Infinity],
    ['minOccurs="2" maxOccurs="3" nillable="true"', 2, 3],
  ])('a parameter with %j from %d to %d times', (attributes, least, most) => {
    const { minOccurs, maxOccurs } = parameter(element(`type="s:string" ${attributes}`));
    expect([minOccurs, maxOccurs]).toEqual([least, most]);
  });

  it('a parameter with its documentation', () => {
    const note = '<s:annotation><s:documentation> The first. </s:documentation></s:annotation>';
    expect(parameter(element('type="s:string"', note)).documentation).toBe('The first.');
    expect(parameter(element('type="s:string"')).documentation).toBe('');
  });

  it('a restricted type, by name or in place, and restricted again', () => {
    const color = '<s:enumeration value="red" /><s:enumeration value="green" />';
    const named = restriction('s:string', color).replace('simpleType>', 'simpleType name="Color">');
    for (const described of [
      parameter(element('', restriction('s:string', color))),
      parameter(element('type="tns:Color"'), named),
      parameter(element('', restriction('tns:Color', '')), named),
      parameter(
        element('', `<s:simpleType><s:restriction>${restriction('s:string', color)}</s:restriction></s:simpleType>`),
      ),
    ]) {
      expect([described.type.name, described.type.choices]).toEqual(['string', ['red', 'green']]);
      expect(described.type.read('red')).toBe('red');
      expect(() => described.type.read('blue')).toThrow('It must be one of red, green.');
    }
  });

  it.each<[string, string, string[], string[]]>([
    ['s:string', '<s:length value="2" />', ['ab'], ['a', 'abc']],
    ['s:string', '<s:minLength value="1" /><s:maxLength value="2" />', ['a', 'ab'], ['', 'abc']],
    ['s:int', '<s:minInclusive value="1" /><s:maxExclusive value="3" />', ['1', '2'], ['0', '3']],
    ['s:decimal', '<s:minExclusive value="0" /><s:maxInclusive value="0.3" />', ['0.1', '0.30'], ['0', '0.31']],
    [
      's:string',
      '<s:pattern value="[a-c]+" /><s:pattern value="\\d{2}" />',
      ['abc', '12'],
      ['abcd', '1', '12a', 'x12'],
    ],
    ['s:string', '<s:pattern value="a|b" />', ['a', 'b'], ['ab', 'xb', 'ax']],
    ['s:string', '<s:pattern value="$[^$^]^\\^" />', ['$x^^'], ['$$^^', 'x', '']],
    ['s:boolean', '<s:pattern value="true|false" />', [' true '], ['1']],
  ])('a %s restricted to %s', (base, facets, allowed, refused) => {
    const { type } = parameter(element('', restriction(base, facets)));
    for (const text of allowed) expect(() => type.read(text)).not.toThrow();
    for (const text of refused) expect(() => type.read(text)).toThrow(/^It must /);
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
    [sequence(element('')), `${P} has no simple type.`],
    [sequence(element('', '<s:complexType />')), `${P} has no simple type.`],
    [sequence(element(`${plain} default="x"`)), `${P} has default, which is not supported.`],
    [sequence(element(`${plain} fixed="x"`)), `${P} has fixed, which is not supported.`],
    [sequence(element(`${plain} form="unqualified"`)), `${P} has form, which is not supported.`],
    [sequence(element(plain) + element(plain)), `${P} is declared twice.`],
    [sequence(element(`${plain} minOccurs="x"`)), `${P} has minOccurs="x", not a whole number.`],
    [sequence(element(`${plain} maxOccurs=""`)), `${P} has maxOccurs="", not a whole number.`],
    [sequence(element(`${plain} minOccurs="2"`)), `${P} can never be given: maxOccurs is too small.`],
    [sequence(element(`${plain} minOccurs="0" maxOccurs="0"`)), `${P} can never be given: maxOccurs is too small.`],
    [sequence('<s:choice />'), 'The element Op has xs:choice, which is not supported.'],
    ['<s:all />', 'The type of the element Op has xs:all, which is not supported.'],
    [`<s:sequence maxOccurs="2" />`, 'The sequence in the element Op has maxOccurs, which is not supported.'],
    [`${sequence('')}<s:attribute name="x" />`, 'The type of the element Op has xs:attribute, which is not supported.'],
    [
      sequence(element('', '<s:simpleType><s:list itemType="s:int" /></s:simpleType>')),
      'has xs:list, which is not supp',
    ],
    [sequence(element('', '<s:simpleType />')), `${P} has an empty simple type.`],
    [
      sequence(element('', restriction('s:int', '<s:maxLength value="2" />'))),
      `${P} has a restriction of int that has xs:maxLength, which is not supported.`,
    ],
    [sequence(element('', restriction('s:string', '<s:minInclusive value="a" />'))), 'that has xs:minInclusive, which'],
    [sequence(element('', restriction('s:boolean', '<s:enumeration value="1" />'))), 'that has xs:enumeration, which'],
    [sequence(element('', restriction('s:decimal', '<s:totalDigits value="3" />'))), 'that has xs:totalDigits, which'],
    [sequence(element('', restriction('s:string', '<s:maxLength value="-1" />'))), `${P} has value="-1", not a whole`],
    [
      sequence(element('', restriction('s:int', '<s:maxInclusive value="x" />'))),
      `${P} has a facet whose value is not of the type int.`,
    ],
    [
      sequence(element('', restriction('s:string', '<s:pattern value="\\p{IsGreek}" />'))),
      `${P} has the pattern \\p{IsGreek}, which is not supported.`,
    ],
    [sequence(element('', restriction('s:string', '<s:pattern value="[a-z-[aeiou]]" />'))), 'which is not supported.'],
  ])('for %s', (content, message) => {
    expect(() => inputOf(content)).toThrow(SchemaError);
    expect(() => inputOf(content)).toThrow(message);
  });

  it('for parameters without a namespace', () => {
    expect(() => inputOf(sequence(element(plain)), '', '')).toThrow(
      new SchemaError(`${P} has no namespace. The schema needs elementFormDefault="qualified".`),
    );
  });

  it('for an operation whose element is missing, or has a type elsewhere', () => {
    const schema = readXml('<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema"><s:element name="Op" /></s:schema>');
    expect(() => operationInput(schema, 'Other')).toThrow(new SchemaError('The schema has no element Other.'));
    expect(() => operationInput(schema, 'Op')).toThrow(
      new SchemaError('The element Op has no complex type of its own.'),
    );
  });
});
