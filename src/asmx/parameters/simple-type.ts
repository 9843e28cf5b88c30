import { parseTime } from '../../lang/rfc3339';
import type { SimpleValue } from '../../service/call';

/** A simple type of XML Schema (XML Schema Part 2: Datatypes, 2nd edition) that a parameter can have. */
export interface SimpleType {
  /** The name of its built-in type, as `int` in `xs:int`. */
  readonly name: BuiltInName;
  /** The .NET class that stands for it in messages, as in those of ASP.NET. */
  readonly className: string;
  /** The only values that it allows; undefined: it has no such list. */
  readonly choices: readonly string[] | undefined;
  /**
   * Reads a value as it is written.
   *
   * @throws {SimpleTypeError} it is not a value of this type.
   */
  read(this: void, text: string): SimpleValue;
}

/** The built-in types that parameters can have. */
export type BuiltInName = 'string' | 'boolean' | 'int' | 'long' | 'decimal' | 'dateTime';

/** Thrown for a text that is not a value of a type. The message says why, and quotes nothing of the text. */
export class SimpleTypeError extends Error {
  override readonly name = 'SimpleTypeError';
}

/** What a restriction allows of its base type (XML Schema Part 2, section 4.3). Undefined: anything. */
export interface Facets {
  readonly choices: readonly string[] | undefined;
  /** The value must match one of them, from its beginning to its end. */
  readonly patterns: readonly RegExp[];
  /** Lengths in characters, for strings. */
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  /** Bounds, as values of the base type are written. */
  readonly minInclusive: string | undefined;
  readonly maxInclusive: string | undefined;
  readonly minExclusive: string | undefined;
  readonly maxExclusive: string | undefined;
}

/** The built-in types by name. A dateTime without a time zone is taken as UTC; a decimal is a text, since it is exact. */
export const BUILT_IN: Readonly<Record<BuiltInName, SimpleType>> = {
  string: builtIn('string', 'System.String', (text) => text),
  boolean: builtIn('boolean', 'System.Boolean', (text) => {
    const value = BOOLEANS[collapsed(text).toLowerCase()];
    if (value === undefined) throw new SimpleTypeError('String was not recognized as a valid Boolean.');
    return value;
  }),
  int: builtIn('int', 'System.Int32', (text) => Number(wholeNumber(text, 32, 'an Int32'))),
  long: builtIn('long', 'System.Int64', (text) => wholeNumber(text, 64, 'an Int64')),
  decimal: builtIn('decimal', 'System.Decimal', decimal),
  dateTime: builtIn('dateTime', 'System.DateTime', (text) => {
    const written = collapsed(text);
    const time = parseTime(HAS_ZONE.test(written) ? written : `${written}Z`);
    if (time === undefined) throw new SimpleTypeError('String was not recognized as a valid DateTime.');
    return new Date(time);
  }),
};

/** Makes the type that allows of a base type only what the facets allow. */
export function restricted(base: SimpleType, facets: Facets): SimpleType {
  const { choices, patterns, minLength = 0, maxLength = Infinity } = facets;
  const bound = (text: string | undefined) => (text === undefined ? undefined : ordinal(base.read(text)));
  const [least, most] = [bound(facets.minInclusive), bound(facets.maxInclusive)];
  const [above, below] = [bound(facets.minExclusive), bound(facets.maxExclusive)];
  const allowed = choices?.map((choice) => ordinal(base.read(choice)));
  return {
    ...base,
    choices: choices ?? base.choices,
    read(text) {
      const value = base.read(text);
      const position = ordinal(value);
      if (allowed?.includes(position) === false)
        throw new SimpleTypeError(`It must be one of ${choices?.join(', ') ?? ''}.`);
      const written = base.name === 'string' ? text : collapsed(text);
      if (patterns.length > 0 && !patterns.some((pattern) => pattern.test(written)))
        throw new SimpleTypeError(`It must match ${patterns.map(({ source }) => source).join(' or ')}.`);
      const length = minLength > 0 || maxLength < Infinity ? [...written].length : 0;
      if (length < minLength) throw new SimpleTypeError(`It must have at least ${String(minLength)} characters.`);
      if (length > maxLength) throw new SimpleTypeError(`It must have at most ${String(maxLength)} characters.`);
      if (least !== undefined && position < least)
        throw new SimpleTypeError(`It must not be less than ${facets.minInclusive ?? ''}.`);
      if (most !== undefined && position > most)
        throw new SimpleTypeError(`It must not be more than ${facets.maxInclusive ?? ''}.`);
      if (above !== undefined && position <= above)
        throw new SimpleTypeError(`It must be more than ${facets.minExclusive ?? ''}.`);
      if (below !== undefined && position >= below)
        throw new SimpleTypeError(`It must be less than ${facets.maxExclusive ?? ''}.`);
      return value;
    },
  };

  /** What values are compared by. */
  function ordinal(value: SimpleValue): string | number | bigint {
    if (value instanceof Date) return value.getTime();
    if (typeof value === 'boolean') return Number(value);
    return base.name === 'decimal' ? scaled(String(value)) : value;
  }
}

function builtIn(name: BuiltInName, className: string, read: SimpleType['read']): SimpleType {
  return { name, className, choices: undefined, read };
}

/** XML Schema writes booleans in lower case; .NET writes them with a capital over HTTP GET and POST. */
const BOOLEANS: Readonly<Record<string, boolean | undefined>> = { true: true, false: false, 1: true, 0: false };
const HAS_ZONE = /(?:[Zz]|[+-]\d\d:\d\d)$/;
const WHOLE = /^([+-]?)0*(\d+)$/;
const DECIMAL = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/;

/** Most characters that a number is written with; more, whatever they are, are too many. */
const MAX_NUMBER_LENGTH = 100;
/** The digits that System.Decimal can hold, whatever they are. */
const DECIMAL_DIGITS = 28;

function wholeNumber(text: string, bits: number, what: string): bigint {
  const match = WHOLE.exec(numeral(text, what));
  if (match === null) throw new SimpleTypeError(NOT_A_NUMBER);
  const [, sign = '', digits = ''] = match;
  const value = BigInt(sign === '-' ? `-${digits}` : digits);
  if (value !== BigInt.asIntN(bits, value)) throw outOfRange(what);
  return value;
}

/** Reads a decimal; returns it without a plus sign and without zeros that say nothing. */
function decimal(text: string): string {
  const written = numeral(text, 'a Decimal');
  const match = DECIMAL.exec(written);
  if (match === null || !/\d/.test(written)) throw new SimpleTypeError(NOT_A_NUMBER);
  const [, sign = '', whole = '', fraction = ''] = match;
  if (whole.length + fraction.length > DECIMAL_DIGITS) throw outOfRange('a Decimal');
  const digits = (whole || '0') + (fraction && `.${fraction}`);
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
}

function scaled(value: string): bigint {
  const [whole = '', fraction = ''] = value.split('.');
  return BigInt(whole.replace(/^-?$/, '0') + fraction.padEnd(DECIMAL_DIGITS, '0'));
}

/** The text of a number, short enough for expressions that take quadratic time. */
function numeral(text: string, what: string): string {
  const written = collapsed(text);
  if (written.length > MAX_NUMBER_LENGTH) throw outOfRange(what);
  return written;
}

function outOfRange(what: string): SimpleTypeError {
  return new SimpleTypeError(`Value was either too large or too small for ${what}.`);
}

const NOT_A_NUMBER = 'Input string was not in a correct format.';

/** Removes white space at both ends, where XML Schema gives it no meaning. */
function collapsed(text: string): string {
  return text.trim();
}
