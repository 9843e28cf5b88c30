import { detached, shortened } from '../util/text';
import { ParameterError, type ParameterValues, type SimpleValue } from '../service/call';
import type { Parameter } from './schema';
import { SimpleTypeError } from './simple-type';

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
    // A copy: an operation may keep it while it waits, long after the message is gone.
    return type.read(detached(text));
  } catch (error) {
    if (!(error instanceof SimpleTypeError)) throw error;
    throw new ParameterError(
      `Cannot convert ${shortened(text)} to ${type.className}.\nParameter name: ${name} ---> ${error.message}`,
    );
  }
}
