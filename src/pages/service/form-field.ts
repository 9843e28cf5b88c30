import type { Parameter } from '../../contract/schema';
import type { BuiltInName } from '../../contract/simple-type';
import { exampleValue } from './example';

/** How the form on an operation's page asks for a parameter. */
export interface FormField {
  readonly name: string;
  /** The type of its values, as a reader of the schema knows it. */
  readonly type: string;
  readonly meaning: string;
  readonly isRequired: boolean;
  /** The values to choose from; undefined: any text. */
  readonly choices: readonly string[] | undefined;
  /** The `step` of a number (HTML, section 4.10.5.3.8); undefined: it is no number. */
  readonly step: '1' | 'any' | undefined;
  /** What a value looks like, where its type does not say so; empty: it does. */
  readonly placeholder: string;
  /** How many values there is room for at first. */
  readonly rows: number;
  /** Most values; `Infinity`: any number of them. */
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
