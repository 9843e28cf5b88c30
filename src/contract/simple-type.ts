import { parseTime } from '../util/time';
import type { SimpleValue } from '../service/call';
import { withoutOuterSpace } from '../xml/characters';

/** A simple type of XML Schema (XML Schema Part 2: Datatypes, 2nd edition) that a parameter can have. */
export interface SimpleType {
  /** The name of its built-in type, as `int` in `xs:int`. */
  readonly name: BuiltInName;
  /** The .NET class that stands for it in messages, as in those of ASP.NET. */
  readonly className: string;
  /** The only values that it allows, if it lists them. */
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

/** What a restriction allows of its base type (XML Schema Part 2, section 4.3). A missing facet allows anything. */
export interface Facets {
  readonly choices: readonly string[] | undefined;
  /** The value must match one of them, from its beginning to its end; none: it may be anything. */
  readonly patterns: readonly Pattern[];
  /** Lengths in characters, for strings. */
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  /** Bounds, as values of the base type are written. */
  readonly minInclusive: string | undefined;
  readonly maxInclusive: string | undefined;
  readonly minExclusive: string | undefined;
  readonly maxExclusive: string | undefined;
}

/** A regular expression of XML Schema. */
export interface Pattern {
  /** As the schema has it. */
  readonly source: string;
  matches(this: void, text: string): boolean;
}

/** The built-in types by name. A dateTime without a time zone is taken as UTC; a decimal is a text, since it is exact. */
export const BUILT_IN: Readonly<Record<BuiltInName, SimpleType>> = {
  string: builtIn('string', 'System.String', (text) => text),
  boolean: builtIn('boolean', 'System.Boolean', (text) => {
    const value = BOOLEANS.get(withoutOuterSpace(text).toLowerCase());
    if (value === undefined) throw new SimpleTypeError('String was not recognized as a valid Boolean.');
    return value;
  }),
  int: builtIn('int', 'System.Int32', (text) => Number(wholeNumber(text, 32, 'an Int32'))),
  long: builtIn('long', 'System.Int64', (text) => wholeNumber(text, 64, 'an Int64')),
  decimal: builtIn('decimal', 'System.Decimal', decimal),
  dateTime: builtIn('dateTime', 'System.DateTime', (text) => {
    const written = withoutOuterSpace(text);
    const time = parseTime(HAS_ZONE.test(written) ? written : `${written}Z`);
    if (time === undefined) throw new SimpleTypeError('String was not recognized as a valid DateTime.');
    return new Date(time);
  }),
};

/**
 * Makes the type that allows of a base type only what the facets allow.
 *
 * @throws {SimpleTypeError} a choice or a bound is not a value of the base type.
 */
export function restricted(base: SimpleType, facets: Facets): SimpleType {
  const { choices, patterns, minLength = 0, maxLength = Infinity } = facets;
  const bound = (text: string | undefined) => (text === undefined ? undefined : ordinal(base.read(text)));
  const [least, most] = [bound(facets.minInclusive), bound(facets.maxInclusive)];
  const [above, below] = [bound(facets.minExclusive), bound(facets.maxExclusive)];
  const allowed = choices && new Set(choices.map((choice) => ordinal(base.read(choice))));
  return {
    ...base,
    choices: choices ?? base.choices,
    read(text) {
      const value = base.read(text);
      const position = ordinal(value);
      if (allowed?.has(position) === false)
        throw new SimpleTypeError(`It must be one of ${choices?.join(', ') ?? ''}.`);
      // Lengths come before patterns, which may take much time on a long text.
      const length = minLength > 0 || maxLength < Infinity ? characters(text) : 0;
      if (length < minLength) throw new SimpleTypeError(`It must have at least ${String(minLength)} characters.`);
      if (length > maxLength) throw new SimpleTypeError(`It must have at most ${String(maxLength)} characters.`);
      const written = base.name === 'string' ? text : withoutOuterSpace(text);
      if (patterns.length > 0 && !patterns.some(({ matches }) => matches(written)))
        throw new SimpleTypeError(`It must match ${patterns.map(({ source }) => source).join(' or ')}.`);
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
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
]);

const HAS_ZONE = /(?:[Zz]|[+-]\d\d:\d\d)$/;
const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** A number that is written with more characters is refused, even if most of them are zeros that say nothing. */
const MAX_NUMBER_LENGTH = 100;
/** The digits that System.Decimal can hold, whatever they are. */
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

/** A decimal as a whole number, for comparison. */
function scaled(value: string): bigint {
  const [whole = '', fraction = ''] = value.split('.');
  return BigInt(whole + fraction.padEnd(DECIMAL_DIGITS, '0'));
}

function numeral(text: string, form: RegExp, what: string): string {
  const written = withoutOuterSpace(text);
  if (!form.test(written)) throw new SimpleTypeError('Input string was not in a correct format.');
  if (written.length > MAX_NUMBER_LENGTH) throw outOfRange(what);
  return written;
}

function outOfRange(what: string): SimpleTypeError {
  return new SimpleTypeError(`Value was either too large or too small for ${what}.`);
}

function characters(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}
