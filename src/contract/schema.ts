import type { XmlElement } from '../xml/xml-tree';
import { detached, shortened } from '../util/text';
import { parseTime } from '../util/time';
import { CallError, type ParameterValues } from '../service/call';

export const SCHEMA_NAMESPACE = 'http://www.w3.org/2001/XMLSchema';

/** A parameter of an operation, as the schema describes it. */
export interface Parameter {
  readonly name: string;
  readonly type: SimpleType;
  readonly isRequired: boolean;
  /** Its `xs:documentation`; empty if it has none. */
  readonly documentation: string;
}

/** Thrown at start if WSDLs and service object differ, or the schema says something the service cannot do. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

export class OperationInput {
  constructor(
    /** In the order of the schema. */
    readonly parameters: readonly Parameter[],
    readonly takesAnyXml: boolean,
  ) {}

  /**
   * Reads what an operation takes from its element in the schema: a sequence of elements of built-in simple types, and of any XML
   * (XML Schema Part 1, sections 3.3 and 3.4).
   *
   * @throws {ContractError} the schema says something else.
   */
  static read(schema: XmlElement, operation: string): OperationInput {
    const element = children(schema, 'element').find((one) => one.attribute('name') === operation);
    if (element === undefined) throw new ContractError(`The schema has no element ${operation}.`);
    const [complexType] = children(element, 'complexType');
    if (complexType === undefined) throw new ContractError(`The element ${operation} has no complex type of its own.`);
    const [sequence] = onlyOf(complexType, ['sequence'], `The type of the element ${operation}`);
    if (sequence === undefined) return new OperationInput([], false);
    withoutAttributes(sequence, ['minOccurs', 'maxOccurs'], `The sequence in the element ${operation}`);
    const particles = onlyOf(sequence, ['element', 'any'], `The element ${operation}`);
    const parameters = particles
      .filter(({ name }) => name === 'element')
      .map((particle) => parameterOf(schema, particle, operation));
    const names = parameters.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined)
      throw new ContractError(`The parameter ${twice} of the operation ${operation} is declared twice.`);
    const takesAnyXml = particles.some(({ name }) => name === 'any');
    return new OperationInput(parameters, takesAnyXml);
  }

  /**
   * Turns the texts that a caller gave into the values of the parameters, the same for every binding.
   *
   * @param refused - names that must not be given.
   * @throws {CallError} with the texts of ASP.NET.
   */
  values(given: (name: string) => readonly string[], refused: readonly string[] = []): ParameterValues {
    const names = this.parameters.map(({ name }) => name);
    const unknown = refused.find((name) => !names.includes(name) && given(name).length > 0);
    if (unknown !== undefined)
      throw new CallError(`There is no parameter ${unknown}. The parameters are ${names.join(', ')}.`);
    // Without a prototype: nothing has a value that was not given, whatever its name.
    const values = Object.create(null) as Record<string, ParameterValue | undefined>;
    for (const parameter of this.parameters) {
      const { name, isRequired } = parameter;
      const [text, ...more] = given(name);
      if (text === undefined && isRequired) throw new CallError(`Missing parameter: ${name}.`);
      if (more.length > 0) throw CallError.mustBe(name, 'given once');
      values[name] = text === undefined ? undefined : readText(parameter, text);
    }
    return values;
  }
}

function parameterOf(schema: XmlElement, element: XmlElement, operation: string): Parameter {
  const name = element.attribute('name') ?? '';
  const where = `The parameter ${name} of the operation ${operation}`;
  withoutAttributes(element, ['ref', 'default', 'fixed', 'form'], where);
  if (schema.attribute('elementFormDefault') !== 'qualified')
    throw new ContractError(`${where} has no namespace. The schema needs elementFormDefault="qualified".`);
  const minOccurs = element.attribute('minOccurs') ?? '1';
  if (!['0', '1'].includes(minOccurs) || (element.attribute('maxOccurs') ?? '1') !== '1')
    throw new ContractError(`${where} is neither required nor optional: minOccurs is 0 or 1, and maxOccurs is 1.`);
  const [documentation] = children(element, 'annotation').flatMap((note) => children(note, 'documentation'));
  return {
    name,
    type: typeOf(element, where),
    isRequired: minOccurs === '1',
    documentation: documentation?.text.trim() ?? '',
  };
}

function typeOf(element: XmlElement, where: string): SimpleType {
  const name = element.attribute('type') ?? '';
  const type = element.qualifiedName(name);
  if (type?.namespace === SCHEMA_NAMESPACE && Object.hasOwn(BUILT_IN, type.name))
    return BUILT_IN[type.name as BuiltInName];
  const known = Object.keys(BUILT_IN).join(', ');
  throw new ContractError(`${where} has the type "${name}", which is not supported. Use one of ${known}.`);
}

function withoutAttributes(element: XmlElement, names: readonly string[], where: string): void {
  const found = names.find((name) => element.attribute(name) !== undefined);
  if (found !== undefined) throw new ContractError(`${where} has ${found}, which is not supported.`);
}

/** The child elements, but for annotations. @throws {ContractError} one has another name than these. */
function onlyOf(parent: XmlElement, names: readonly string[], where: string): XmlElement[] {
  const found = children(parent).filter(({ name }) => name !== 'annotation');
  const other = found.find(({ name }) => !names.includes(name));
  if (other !== undefined) throw new ContractError(`${where} has xs:${other.name}, which is not supported.`);
  return found;
}

function children(parent: XmlElement, name?: string): XmlElement[] {
  return parent.children(SCHEMA_NAMESPACE, name);
}

function readText({ name, type }: Parameter, text: string): ParameterValue {
  if (!text.isWellFormed()) throw CallError.mustBe(name, 'valid Unicode text; in a URL, percent-encoded UTF-8');
  try {
    const value = type.read(text);
    // A copy: an operation may keep it while it waits, long after the message is gone.
    return typeof value === 'string' ? detached(value) : value;
  } catch (error) {
    const problem = `Cannot convert ${shortened(text)} to ${type.className}.\nParameter name: ${name}`;
    throw new CallError(`${problem} ---> ${(error as Error).message}`);
  }
}

type ParameterValue = NonNullable<ParameterValues[string]>;

/** A simple type of XML Schema (XML Schema Part 2: Datatypes, 2nd edition) that a parameter can have. */
interface SimpleType {
  /** The name of its built-in type, as `int` in `xs:int`. */
  readonly name: BuiltInName;
  /** The .NET class that stands for it in messages, as in those of ASP.NET. */
  readonly className: string;
  readonly example: string;
  /** Reads a value as it is written. @throws it is not one of this type; the error quotes nothing of it. */
  read(this: void, text: string): ParameterValue;
}

export type BuiltInName = 'string' | 'boolean' | 'int' | 'long' | 'decimal' | 'dateTime';

/** The built-in types by name. A dateTime without a time zone is taken as UTC; a decimal is a text, since it is exact. */
export const BUILT_IN: Readonly<Record<BuiltInName, SimpleType>> = {
  string: builtIn('string', 'System.String', 'text', (text) => text),
  boolean: builtIn('boolean', 'System.Boolean', 'true', (text) => {
    const value = BOOLEANS.get(withoutOuterSpace(text).toLowerCase());
    if (value === undefined) throw new Error('String was not recognized as a valid Boolean.');
    return value;
  }),
  int: builtIn('int', 'System.Int32', '10', (text) => Number(wholeNumber(text, 32, 'an Int32'))),
  long: builtIn('long', 'System.Int64', '10', (text) => wholeNumber(text, 64, 'an Int64')),
  decimal: builtIn('decimal', 'System.Decimal', '9.99', decimal),
  dateTime: builtIn('dateTime', 'System.DateTime', '2026-01-31T12:00:00Z', (text) => {
    const written = withoutOuterSpace(text);
    const time = parseTime(HAS_ZONE.test(written) ? written : `${written}Z`);
    if (time === undefined) throw new Error('String was not recognized as a valid DateTime.');
    return new Date(time);
  }),
};

function builtIn(name: BuiltInName, className: string, example: string, read: SimpleType['read']): SimpleType {
  return { name, className, example, read };
}

/** XML Schema writes booleans in lower case; .NET writes them with a capital over HTTP GET and POST. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map(Object.entries({ true: true, false: false, 1: true, 0: false }));

const HAS_ZONE = /(?:[Zz]|[+-]\d\d:\d\d)$/;
const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** A number that is written with more characters is refused, even if most of them are zeros that say nothing. */
const MAX_NUMBER_LENGTH = 100;
const DECIMAL_DIGITS = 28;

function wholeNumber(text: string, bits: number, what: string): bigint {
  const value = BigInt(numeral(text, WHOLE, what));
  if (value !== BigInt.asIntN(bits, value)) throw outOfRange(what);
  return value;
}

/** Reads a decimal; returns it without a plus sign and without zeros that say nothing. */
function decimal(text: string): string {
  const written = numeral(text, DECIMAL, 'a Decimal');
  const [whole = '', fraction = ''] = written.replace(/^[+-]/, '').split('.');
  const digits = whole.replace(/^0+/, '');
  const decimals = fraction.replace(/0+$/, '');
  if (digits.length + decimals.length > DECIMAL_DIGITS) throw outOfRange('a Decimal');
  const value = (digits || '0') + (decimals && `.${decimals}`);
  return written.startsWith('-') && value !== '0' ? `-${value}` : value;
}

function numeral(text: string, form: RegExp, what: string): string {
  const written = withoutOuterSpace(text);
  if (!form.test(written)) throw new Error('Input string was not in a correct format.');
  if (written.length > MAX_NUMBER_LENGTH) throw outOfRange(what);
  return written;
}

function outOfRange(what: string): Error {
  return new Error(`Value was either too large or too small for ${what}.`);
}

const SPACE: ReadonlySet<string> = new Set(' \n\r\t');

/** Removes white space as XML defines it at both ends. A regular expression would take quadratic time on long runs inside. */
function withoutOuterSpace(text: string): string {
  let start = 0;
  let end = text.length;
  // Beyond an end there is no character, so neither loop leaves the text.
  while (SPACE.has(text.charAt(start))) start++;
  while (SPACE.has(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
