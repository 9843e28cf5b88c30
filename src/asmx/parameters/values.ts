import { shortened } from '../../lang/shortened';
import { ParameterError, type ParameterValues, type SimpleValue } from '../../service/call';
import type { Parameter } from './schema';
import { SimpleTypeError } from './simple-type';

/** The texts that a caller gave for a parameter, in order; none: it did not give it. */
export type GivenTexts = (parameter: Parameter) => readonly string[];

/**
 * Turns the texts that a caller gave into the values of an operation's parameters, the same for every binding. A list for a
 * parameter that may occur more than once, which is empty where it was not given.
 *
 * @throws {ParameterError} one is missing, given too often, or not of its type. The texts are those of ASP.NET, which says
 *   `type` for every parameter's name.
 */
export function parameterValues(parameters: readonly Parameter[], given: GivenTexts): ParameterValues {
  const values: Record<string, SimpleValue | readonly SimpleValue[] | undefined> = {};
  for (const parameter of parameters) {
    const { name, minOccurs, maxOccurs } = parameter;
    const texts = given(parameter);
    if (texts.length < minOccurs) throw new ParameterError(`Missing parameter: ${name}.`);
    if (texts.length > maxOccurs) {
      const times = maxOccurs === 1 ? 'once' : `at most ${String(maxOccurs)} times`;
      throw new ParameterError(`The parameter ${name} must be given ${times}.`);
    }
    values[name] = valueOf(
      parameter,
      texts.map((text) => readText(parameter, text)),
    );
  }
  return values;
}

/** A parameter's value: a list if it may occur more than once, otherwise the one value, or undefined without one. */
export function valueOf(
  { maxOccurs }: Parameter,
  values: readonly SimpleValue[],
): SimpleValue | readonly SimpleValue[] | undefined {
  return maxOccurs > 1 ? values : values[0];
}

function readText({ name, type }: Parameter, text: string): SimpleValue {
  if (!text.isWellFormed()) throw ParameterError.mustBe(name, 'text in UTF-8, percent-encoded');
  try {
    return type.read(text);
  } catch (error) {
    if (!(error instanceof SimpleTypeError)) throw error;
    throw new ParameterError(
      `Cannot convert ${shortened(text)} to ${type.className}.\nParameter name: ${name} --> ${error.message}`,
    );
  }
}
