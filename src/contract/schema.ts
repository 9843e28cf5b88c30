import { attributeOf, childrenOf, qualifiedName, textContent, type XmlElement } from '../xml/xml-tree';
import {
  BUILT_IN,
  restricted,
  SimpleTypeError,
  type BuiltInName,
  type Facets,
  type Pattern,
  type SimpleType,
} from './simple-type';
import { detached, shortened } from '../util/text';
import { ParameterError, type ParameterValues, type SimpleValue } from '../service/call';

const SCHEMA_NAMESPACE = 'http://www.w3.org/2001/XMLSchema';

/** A parameter of an operation, as the schema describes it. */
export interface Parameter {
  readonly name: string;
  readonly type: SimpleType;
  /** The fewest values that it takes: 0 if it is optional. */
  readonly minOccurs: number;
  /** The most values that it takes, possibly `Infinity`. A parameter that takes more than one is a list. */
  readonly maxOccurs: number;
  /** Its `xs:documentation`; empty if it has none. */
  readonly documentation: string;
}

/** What an operation takes. */
export interface OperationInput {
  /** In the order of the schema. */
  readonly parameters: readonly Parameter[];
  /** Whether it takes XML elements of any kind (`xs:any`). */
  readonly takesAnyXml: boolean;
}

/** Thrown at start for a schema that says something the service cannot do; the message names it. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/**
 * Reads what an operation takes from the element that the schema declares for it: a sequence of elements of simple types,
 * built in or restricted, and of any XML (XML Schema Part 1, sections 3.3 and 3.4).
 *
 * @throws {SchemaError} the schema does not declare the element, or declares something else.
 */
export function operationInput(schema: XmlElement, operation: string): OperationInput {
  const element = named(schema, 'element', operation);
  if (element === undefined) throw new SchemaError(`The schema has no element ${operation}.`);
  const [complexType] = children(element, 'complexType');
  if (complexType === undefined) throw new SchemaError(`The element ${operation} has no complex type of its own.`);
  const [sequence] = onlyOf(complexType, ['sequence'], `The type of the element ${operation}`);
  if (sequence === undefined) return { parameters: [], takesAnyXml: false };
  withoutAttributes(sequence, ['minOccurs', 'maxOccurs'], `The sequence in the element ${operation}`);
  const particles = onlyOf(sequence, ['element', 'any'], `The element ${operation}`);
  const parameters = particles
    .filter(({ name }) => name === 'element')
    .map((particle) => parameterOf(schema, particle, operation));
  const names = parameters.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new SchemaError(`The parameter ${twice} of the operation ${operation} is declared twice.`);
  return { parameters, takesAnyXml: particles.some(({ name }) => name === 'any') };
}

function parameterOf(schema: XmlElement, element: XmlElement, operation: string): Parameter {
  const name = attributeOf(element, 'name') ?? '';
  const where = `The parameter ${name} of the operation ${operation}`;
  withoutAttributes(element, ['ref', 'default', 'fixed', 'form'], where);
  if (attributeOf(schema, 'elementFormDefault') !== 'qualified')
    throw new SchemaError(`${where} has no namespace. The schema needs elementFormDefault="qualified".`);
  const minOccurs = count(element, 'minOccurs', where) ?? 1;
  const isUnbounded = attributeOf(element, 'maxOccurs') === 'unbounded';
  const maxOccurs = isUnbounded ? Infinity : (count(element, 'maxOccurs', where) ?? 1);
  if (maxOccurs < Math.max(minOccurs, 1)) throw new SchemaError(`${where} can never be given: maxOccurs is too small.`);
  const [documentation] = children(element, 'annotation').flatMap((note) => children(note, 'documentation'));
  return {
    name,
    type: typeOf(schema, element, 'type', where),
    minOccurs,
    maxOccurs,
    documentation: documentation === undefined ? '' : textContent(documentation).trim(),
  };
}

/** The simple type that an attribute names, or that stands inside the element. */
function typeOf(schema: XmlElement, element: XmlElement, attribute: string, where: string): SimpleType {
  const name = attributeOf(element, attribute);
  if (name !== undefined) return namedType(schema, element, name, where);
  const [inline] = children(element, 'simpleType');
  if (inline === undefined) throw new SchemaError(`${where} has no simple type.`);
  return simpleType(schema, inline, where);
}

function namedType(schema: XmlElement, element: XmlElement, name: string, where: string): SimpleType {
  const type = qualifiedName(name, element);
  if (type?.namespace === SCHEMA_NAMESPACE) {
    if (Object.hasOwn(BUILT_IN, type.name)) return BUILT_IN[type.name as BuiltInName];
    const known = Object.keys(BUILT_IN).join(', ');
    throw new SchemaError(`${where} has the type ${name}, which is not supported. Use one of ${known}.`);
  }
  const isOwn = type !== undefined && type.namespace === (attributeOf(schema, 'targetNamespace') ?? '');
  const declared = isOwn ? named(schema, 'simpleType', type.name) : undefined;
  if (declared === undefined)
    throw new SchemaError(`${where} has the type ${name}, which the schema does not declare as a simple type.`);
  return simpleType(schema, declared, where);
}

function simpleType(schema: XmlElement, element: XmlElement, where: string): SimpleType {
  const [restriction] = onlyOf(element, ['restriction'], `${where} has a simple type that`);
  if (restriction === undefined) throw new SchemaError(`${where} has an empty simple type.`);
  const base = typeOf(schema, restriction, 'base', where);
  try {
    return restricted(base, facetsOf(restriction, base, where));
  } catch (error) {
    if (!(error instanceof SimpleTypeError)) throw error;
    throw new SchemaError(`${where} has a facet whose value is not of the type ${base.name}.`, { cause: error });
  }
}

function facetsOf(restriction: XmlElement, base: SimpleType, where: string): Facets {
  const facets = onlyOf(restriction, facetNames(base), `${where} has a restriction of ${base.name} that`);
  const all = (facet: string) => facets.filter(({ name }) => name === facet);
  const values = (facet: string) => all(facet).map((element) => attributeOf(element, 'value') ?? '');
  const length = (facet: string) => all(facet).map((element) => count(element, 'value', where))[0];
  const choices = values('enumeration');
  return {
    choices: choices.length === 0 ? undefined : choices,
    patterns: values('pattern').map((source) => pattern(source, where)),
    minLength: length('length') ?? length('minLength'),
    maxLength: length('length') ?? length('maxLength'),
    minInclusive: values('minInclusive')[0],
    maxInclusive: values('maxInclusive')[0],
    minExclusive: values('minExclusive')[0],
    maxExclusive: values('maxExclusive')[0],
  };
}

/** What a restriction of a type may hold (XML Schema Part 2, section 4.1.5). */
function facetNames({ name }: SimpleType): readonly string[] {
  const always = ['simpleType', 'pattern'];
  switch (name) {
    case 'boolean':
      return always;
    case 'string':
      return [...always, 'enumeration', 'length', 'minLength', 'maxLength'];
    default:
      return [...always, 'enumeration', 'minInclusive', 'maxInclusive', 'minExclusive', 'maxExclusive'];
  }
}

/**
 * The expressions of XML Schema are those of JavaScript but for `^` and `$`, which have no meaning there, a few escapes,
 * which JavaScript then refuses, and letters and digits other than those of ASCII, which `\w` and `\d` leave out here.
 */
function pattern(source: string, where: string): Pattern {
  const escaped = source.replace(/\\.|\[\^?|[\^$]/gsu, (part) => (part === '^' || part === '$' ? `\\${part}` : part));
  try {
    const expression = new RegExp(`^(?:${escaped})$`, 'u');
    return { source, matches: (text) => expression.test(text) };
  } catch (error) {
    throw new SchemaError(`${where} has the pattern ${source}, which is not supported.`, { cause: error });
  }
}

/** The whole number in an attribute, if the element has it. */
function count(element: XmlElement, attribute: string, where: string): number | undefined {
  const value = attributeOf(element, attribute);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value)) throw new SchemaError(`${where} has ${attribute}="${value}", not a whole number.`);
  return Number(value);
}

function withoutAttributes(element: XmlElement, names: readonly string[], where: string): void {
  const found = names.find((name) => attributeOf(element, name) !== undefined);
  if (found !== undefined) throw new SchemaError(`${where} has ${found}, which is not supported.`);
}

/** The child elements of these names. @throws {SchemaError} there is one of another name, other than an annotation. */
function onlyOf(parent: XmlElement, names: readonly string[], where: string): XmlElement[] {
  const found = children(parent).filter(({ name }) => name !== 'annotation');
  const other = found.find(({ name }) => !names.includes(name));
  if (other !== undefined) throw new SchemaError(`${where} has xs:${other.name}, which is not supported.`);
  return found;
}

function named(parent: XmlElement, kind: string, name: string): XmlElement | undefined {
  return children(parent, kind).find((element) => attributeOf(element, 'name') === name);
}

function children(parent: XmlElement, name?: string): XmlElement[] {
  return childrenOf(parent, SCHEMA_NAMESPACE, name);
}

/** The texts that a caller gave for a parameter, in order; none: it did not give it. */
export type GivenTexts = (parameter: Parameter) => readonly string[];

/** What an operation without parameters is given. */
export const NO_VALUES: ParameterValues = parameterValues([], () => []);

/**
 * Turns the texts that a caller gave into the values of an operation's parameters, the same for every binding.
 *
 * @throws {ParameterError} one is missing, given too often, or not of its type. The texts are those of ASP.NET, which says
 *   `type` for every parameter's name.
 */
export function parameterValues(parameters: readonly Parameter[], given: GivenTexts): ParameterValues {
  // Without a prototype: nothing has a value that was not given, whatever its name.
  const values = Object.create(null) as Record<string, SimpleValue | readonly SimpleValue[] | undefined>;
  for (const parameter of parameters) {
    const { name, minOccurs, maxOccurs } = parameter;
    const texts = given(parameter);
    if (texts.length < minOccurs) throw tooFew(parameter, texts.length);
    if (texts.length > maxOccurs) throw ParameterError.mustBe(name, `given ${times('at most', maxOccurs)}`);
    const read = texts.map((text) => readText(parameter, text));
    values[name] = maxOccurs > 1 ? read : read[0];
  }
  return values;
}

function tooFew({ name, minOccurs }: Parameter, given: number): ParameterError {
  if (given === 0) return new ParameterError(`Missing parameter: ${name}.`);
  return ParameterError.mustBe(name, `given ${times('at least', minOccurs)}`);
}

function times(bound: string, count: number): string {
  return count === 1 ? 'once' : `${bound} ${String(count)} times`;
}

function readText({ name, type }: Parameter, text: string): SimpleValue {
  if (!text.isWellFormed()) throw ParameterError.mustBe(name, 'valid Unicode text; in a URL, percent-encoded UTF-8');
  try {
    const value = type.read(text);
    // A copy: an operation may keep it while it waits, long after the message is gone.
    return typeof value === 'string' ? detached(value) : value;
  } catch (error) {
    if (!(error instanceof SimpleTypeError)) throw error;
    throw new ParameterError(
      `Cannot convert ${shortened(text)} to ${type.className}.\nParameter name: ${name} ---> ${error.message}`,
    );
  }
}
