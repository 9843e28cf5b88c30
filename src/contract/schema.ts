import type { XmlElement } from '../xml/xml-tree';
import { detached, shortened } from '../util/text';
import { CallError, type ParameterValues } from '../service/call';

export const SCHEMA_NAMESPACE = 'http://www.w3.org/2001/XMLSchema';

/** The built-in types that a parameter can have (XML Schema Part 2: Datatypes, 2nd edition). */
const TYPES = ['string', 'int'] as const;

/** A parameter of an operation, as the schema describes it. */
export interface Parameter {
  readonly name: string;
  readonly type: (typeof TYPES)[number];
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
   * Reads what an operation takes from its element in the schema: a sequence of elements with a type of {@link TYPES}, and of any XML
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
    refuseAttributes(sequence, ['minOccurs', 'maxOccurs'], `The sequence in the element ${operation}`);
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
   * @param refuses - names that must not be given.
   * @throws {CallError} with the texts of ASP.NET.
   */
  values(given: (name: string) => readonly string[], refuses: readonly string[] = []): ParameterValues {
    const unknown = refuses.find((name) => given(name).length > 0);
    if (unknown !== undefined) {
      const names = this.parameters.map(({ name }) => name).join(', ');
      throw new CallError(`There is no parameter ${unknown}. The parameters are ${names}.`);
    }
    // Without a prototype: nothing has a value that was not given, whatever its name.
    const values = Object.create(null) as Record<string, string | number | undefined>;
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
  refuseAttributes(element, ['ref', 'default', 'fixed', 'form'], where);
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

function typeOf(element: XmlElement, where: string): Parameter['type'] {
  const written = element.attribute('type') ?? '';
  const { namespace, name } = element.qualifiedName(written) ?? {};
  const type = namespace === SCHEMA_NAMESPACE ? TYPES.find((one) => one === name) : undefined;
  if (type !== undefined) return type;
  throw new ContractError(`${where} has the type "${written}", which is not supported. Use string or int.`);
}

function refuseAttributes(element: XmlElement, names: readonly string[], where: string): void {
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

/** @throws {CallError} with the texts of .NET. */
function readText({ name, type }: Parameter, text: string): string | number {
  if (!text.isWellFormed()) throw CallError.mustBe(name, 'valid Unicode text; in a URL, percent-encoded UTF-8');
  // A copy: an operation may keep it while it waits, long after the message is gone.
  if (type === 'string') return detached(text);
  const written = text.trim();
  const value = /^[+-]?\d+$/.test(written) ? Number(written) : NaN;
  if (value === (value | 0)) return value | 0;
  const problem = Number.isNaN(value)
    ? 'Input string was not in a correct format.'
    : 'Value was either too large or too small for an Int32.';
  throw new CallError(`Cannot convert ${shortened(text)} to System.Int32.\nParameter name: ${name} ---> ${problem}`);
}
