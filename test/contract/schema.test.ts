import { ContractError, OperationInput, type Parameter } from '../../src/contract/schema';
import { XmlElement } from '../../src/xml/xml-tree';

/** What an operation Op takes whose type has this content. */
function inputOf(content: string, attributes = 'elementFormDefault="qualified"') {
  const schema = `<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema" xmlns:tns="urn:x" targetNamespace="urn:x" ${attributes}>
    <s:element name="Op"><s:complexType>${content}</s:complexType></s:element></s:schema>`;
  return OperationInput.read(XmlElement.read(schema), 'Op');
}

const sequence = (particles: string) => `<s:sequence>${particles}</s:sequence>`;
const element = (attributes: string, content = '') => `<s:element name="p" ${attributes}>${content}</s:element>`;

function parameter(particle: string): Parameter {
  const [only, ...more] = inputOf(sequence(particle)).parameters;
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
    expect(parameters.map(({ name, type }) => [name, type])).toEqual([
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
});

it.each(['__proto__', 'constructor'])('a parameter may be called %s', (name) => {
  const input = new OperationInput([{ name, type: 'string', isRequired: false, documentation: '' }], false);
  expect(Object.entries(input.values(() => ['x']))).toEqual([[name, 'x']]);
  expect(input.values(() => [])[name]).toBeUndefined();
});

describe('a value', () => {
  const read = (type: Parameter['type'], text: string) =>
    new OperationInput([{ name: 'p', type, isRequired: true, documentation: '' }], false).values(() => [text])['p'];

  it.each<[Parameter['type'], string, string | number]>([
    ['int', '-0', 0],
    ['int', '+0017', 17],
    ['int', `${'0'.repeat(200)}17`, 17],
    ['int', ' 2147483647\t', 2147483647],
    ['int', '-2147483648', -2147483648],
    ['string', ' \t\u0000\uFFFE😀\n', ' \t\u0000\uFFFE😀\n'],
  ])('that is %s is read from %j as %p', (type, text, value) => {
    expect(read(type, text)).toBe(value);
  });

  const NOT_A_NUMBER = 'Input string was not in a correct format.';
  const TOO_LARGE = 'Value was either too large or too small for an Int32.';
  it.each([
    ...['', '1.0', '1e3', '0x1', '\u0661'].map((text) => [text, NOT_A_NUMBER]),
    ...['2147483648', '-2147483649', '9'.repeat(1000)].map((text) => [text, TOO_LARGE]),
  ])('that is no int is refused (%#)', (text = '', problem = '') => {
    expect(() => read('int', text)).toThrow(`System.Int32.\nParameter name: p ---> ${problem}`);
  });

  it.each([' ', '0', '1'])('of 1 MB of %j is read or refused within 100 ms', (character) => {
    for (const text of [`x${character.repeat(1_000_000)}x`, character.repeat(1_000_000)]) {
      const before = process.cpuUsage();
      if (character === '0' && !text.startsWith('x')) expect(read('int', text)).toBe(0);
      else expect(() => read('int', text)).toThrow('Cannot convert');
      expect(process.cpuUsage(before).user).toBeLessThan(100_000);
    }
  });
});

describe('the start is refused', () => {
  const P = 'The parameter p of the operation Op';
  const plain = 'type="s:string"';
  it.each<[string, string]>([
    [sequence(element('type="s:long"')), `${P} has the type "s:long", which is not supported. Use string or int.`],
    [sequence(element('type="s:toString"')), `${P} has the type "s:toString", which is not supported.`],
    [sequence(element('type="string"')), `${P} has the type "string", which is not supported.`],
    [sequence(element('')), `${P} has the type "", which is not supported.`],
    ...['ref', 'default', 'fixed', 'form'].map((name): [string, string] => [
      sequence(element(`${plain} ${name}="x"`)),
      `${P} has ${name}, which is not supported.`,
    ]),
    [sequence(element(plain) + element(plain)), `${P} is declared twice.`],
    ...['minOccurs="2" maxOccurs="2"', 'maxOccurs="unbounded"'].map((occurs): [string, string] => [
      sequence(element(`${plain} ${occurs}`)),
      `${P} is neither required nor optional: minOccurs is 0 or 1, and maxOccurs is 1.`,
    ]),
    [sequence('<s:choice />'), 'The element Op has xs:choice, which is not supported.'],
    ['<s:all />', 'The type of the element Op has xs:all, which is not supported.'],
    ...['minOccurs', 'maxOccurs'].map((name): [string, string] => [
      `<s:sequence ${name}="0" />`,
      `The sequence in the element Op has ${name}, which is not supported.`,
    ]),
    [`${sequence('')}<s:attribute name="x" />`, 'The type of the element Op has xs:attribute, which is not supported.'],
  ])('for %s', (content, message) => {
    expect(() => inputOf(content)).toThrow(message);
  });

  it('for parameters without a namespace, and an operation whose element is missing or has a type elsewhere', () => {
    const other = XmlElement.read(
      '<s:schema xmlns:s="http://www.w3.org/2001/XMLSchema"><s:element name="Op" /></s:schema>',
    );
    for (const [read, message] of [
      [
        () => inputOf(sequence(element(plain)), ''),
        `${P} has no namespace. The schema needs elementFormDefault="qualified".`,
      ],
      [() => OperationInput.read(other, 'Other'), 'The schema has no element Other.'],
      [() => OperationInput.read(other, 'Op'), 'The element Op has no complex type of its own.'],
    ] as const)
      expect(read).toThrow(new ContractError(message));
  });
});
