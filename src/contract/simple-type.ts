import { parseTime } from '../util/time';
import type { SimpleValue } from '../service/call';
import { withoutOuterSpace } from '../xml/characters';

/** A simple type of XML Schema (XML Schema Part 2: Datatypes, 2nd edition) that a parameter can have. */
export interface SimpleType {
  /** The name of its built-in type, as `int` in `xs:int`. */
  readonly name: BuiltInName;
  /** The .NET class that stands for it in messages, as in those of ASP.NET. */
  readonly className: string;
  /** A value of it, as text. */
  readonly example: string;
  /** Reads a value as it is written. @throws {SimpleTypeError} it is not one of this type. */
  read(this: void, text: string): SimpleValue;
}

export type BuiltInName = 'string' | 'boolean' | 'int' | 'long' | 'decimal' | 'dateTime';

/** Thrown for a text that is not a value of a type. The message says why, and quotes nothing of the text. */
export class SimpleTypeError extends Error {
  override readonly name = 'SimpleTypeError';
}

/** The built-in types by name. A dateTime without a time zone is taken as UTC; a decimal is a text, since it is exact. */
export const BUILT_IN: Readonly<Record<BuiltInName, SimpleType>> = {
  string: builtIn('string', 'System.String', 'text', (text) => text),
  boolean: builtIn('boolean', 'System.Boolean', 'true', (text) => {
    const value = BOOLEANS.get(withoutOuterSpace(text).toLowerCase());
    if (value === undefined) throw new SimpleTypeError('String was not recognized as a valid Boolean.');
    return value;
  }),
  int: builtIn('int', 'System.Int32', '10', (text) => Number(wholeNumber(text, 32, 'an Int32'))),
  long: builtIn('long', 'System.Int64', '10', (text) => wholeNumber(text, 64, 'an Int64')),
  decimal: builtIn('decimal', 'System.Decimal', '9.99', decimal),
  dateTime: builtIn('dateTime', 'System.DateTime', '2026-01-31T12:00:00Z', (text) => {
    const written = withoutOuterSpace(text);
    const time = parseTime(HAS_ZONE.test(written) ? written : `${written}Z`);
    if (time === undefined) throw new SimpleTypeError('String was not recognized as a valid DateTime.');
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

function numeral(text: string, form: RegExp, what: string): string {
  const written = withoutOuterSpace(text);
  if (!form.test(written)) throw new SimpleTypeError('Input string was not in a correct format.');
  if (written.length > MAX_NUMBER_LENGTH) throw outOfRange(what);
  return written;
}

function outOfRange(what: string): SimpleTypeError {
  return new SimpleTypeError(`Value was either too large or too small for ${what}.`);
}
