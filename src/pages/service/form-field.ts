import type { Parameter } from '../../contract/schema';
import { SimpleTypeError, type BuiltInName, type SimpleType } from '../../contract/simple-type';
import type { ArgumentTexts } from '../../soap/soap-version';
import type { ContractOperation } from '../../contract/contract';

/** How the form on an operation's page asks for a parameter. */
export interface FormField {
  readonly name: string;
  /** The type of its values, as the schema names it. */
  readonly type: string;
  readonly meaning: string;
  readonly isRequired: boolean;
  /** The values to choose from, if not every text is allowed. */
  readonly choices: readonly string[] | undefined;
  /** The `step` of a number (HTML, section 4.10.5.3.8). */
  readonly step: '1' | 'any' | undefined;
  /** An example, where the type does not show what a value looks like. */
  readonly placeholder: string;
  /** Fields shown at first. */
  readonly rows: number;
  /** Most values, possibly `Infinity`. */
  readonly mostRows: number;
}

const STEPS: Readonly<Partial<Record<BuiltInName, '1' | 'any'>>> = { int: '1', long: '1', decimal: 'any' };

/** Chooses the field for a parameter by its type. */
export function formField({ name, type, minOccurs, maxOccurs, documentation }: Parameter): FormField {
  const choices = type.choices ?? (type.name === 'boolean' ? ['true', 'false'] : undefined);
  return {
    name,
    type: maxOccurs > 1 ? `${type.name}, repeated` : type.name,
    meaning: documentation,
    isRequired: minOccurs > 0,
    choices,
    step: choices === undefined ? STEPS[type.name] : undefined,
    placeholder: type.name === 'dateTime' ? exampleValue(type) : '',
    rows: Math.max(1, minOccurs),
    mostRows: maxOccurs,
  };
}

/** What the samples send to an operation that takes any XML: an element, or a field of a query string or form. */
const ANYTHING: ArgumentTexts = new Map([['order', ['17']]]);

/** Candidates for the example of a type, the best first; a restricted type may refuse some. */
const VALUES: Readonly<Record<BuiltInName, readonly string[]>> = {
  string: ['text'],
  boolean: ['true'],
  int: ['10', '1', '0', '100', '1000', '-1'],
  long: ['10', '1', '0', '100', '1000', '-1'],
  decimal: ['9.99', '0.5', '10', '100', '-1'],
  dateTime: ['2026-01-31T12:00:00Z'],
};

/** An example of a type, as text. Where a restriction allows none of the usual values, one that only shows the type. */
export function exampleValue({ name, choices, read }: SimpleType): string {
  const values = choices ?? VALUES[name];
  const accepted = values.find((value) => {
    try {
      read(value);
      return true;
    } catch (error) {
      if (error instanceof SimpleTypeError) return false;
      throw error;
    }
  });
  return accepted ?? values[0] ?? name;
}

/**
 * Arguments for the samples, which the operation accepts: those it requires or, if it requires none, the first whose type shows
 * what a value looks like. An operation that takes any XML gets an element.
 */
export function exampleArguments({ parameters, takesAnyXml }: ContractOperation): ArgumentTexts {
  const required = parameters.filter(({ minOccurs }) => minOccurs > 0);
  const telling = parameters.filter(({ type }) => type.name !== 'string' || type.choices !== undefined).slice(0, 1);
  const shown = required.length > 0 || takesAnyXml ? required : telling;
  const examples = shown.map(
    ({ name, type, minOccurs }) => [name, Array<string>(Math.max(1, minOccurs)).fill(exampleValue(type))] as const,
  );
  return new Map([...examples, ...(takesAnyXml ? ANYTHING : [])]);
}
