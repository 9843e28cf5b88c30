import { unescapeBuffer } from 'node:querystring';
import { JsonText } from '../events/cloudevents/json-text';
import { Charset } from '../http/content/charset';
import { atOnce, LARGE_MESSAGE, type Steps } from '../util/promises';

/** Text with more fields than this is not parsed. */
const MAX_FIELDS = 10_000;

/** How many characters are decoded at a time, and how many fields are read. */
const PART_LENGTH = 16 * 1024;
const FIELDS_AT_ONCE = 64;

/** Characters of JSON for a field besides its name and its value: quotes, a colon, a comma, brackets. */
const FIELD_LENGTH = 8;

/** Stands for a name or value that is not text: a lone surrogate, which no decoded text holds. */
export const UNDECODABLE = '\uD800';

/** Text of a form that needs no decoding, in any character set that has ASCII. */
const PLAIN = /^[ -$&-*,-~]*$/;

/** The fields of a form or query string (`application/x-www-form-urlencoded`). */
export class FormFields {
  private constructor(
    /**
     * In the order sent, without a prototype: a string for a name that occurs once, a list for a repeated one. A name or value whose
     * escapes are not text in the character set is {@link UNDECODABLE}.
     */
    readonly values: Record<string, string | string[] | undefined>,
    readonly hasUndecodable: boolean,
  ) {}

  /** Parses fields in one go, as {@link FormFields.read} does. */
  static parse(encoded: string, charset?: Charset): FormFields | undefined {
    return atOnce(FormFields.read(encoded, charset));
  }

  /** Parses fields, each character standing for one byte. Returns undefined for more than 10,000. */
  static *read(encoded: string, charset = Charset.utf8): Steps<FormFields | undefined> {
    const fields = encoded.split('&', MAX_FIELDS + 1);
    if (fields.length > MAX_FIELDS) return undefined;
    const values = Object.create(null) as FormFields['values'];
    const decoder = charset.decoder();
    let hasUndecodable = false;
    const known = (text: string | undefined): string => {
      if (text === undefined) hasUndecodable = true;
      return text ?? UNDECODABLE;
    };
    const decoded = (part: string): string => (PLAIN.test(part) ? part : known(decoder?.(unescapedPart(part))));
    function* decodedInSteps(part: string): Steps<string> {
      const bytes = yield* unescaped(part);
      yield;
      return known(yield* charset.decodeSteps(bytes));
    }
    for (const [i, field] of fields.entries()) {
      if (i % FIELDS_AT_ONCE === FIELDS_AT_ONCE - 1) yield;
      if (field === '') continue;
      const equals = field.indexOf('=');
      const isLong = field.length > PART_LENGTH;
      const [encodedName, encodedValue] =
        equals === -1 ? [field, ''] : [field.slice(0, equals), field.slice(equals + 1)];
      const name = isLong ? yield* decodedInSteps(encodedName) : decoded(encodedName);
      const value = isLong ? yield* decodedInSteps(encodedValue) : decoded(encodedValue);
      const others = values[name];
      if (others === undefined) values[name] = value;
      else if (typeof others === 'string') values[name] = [others, value];
      else others.push(value);
    }
    return new FormFields(values, hasUndecodable);
  }

  /** Writes them as a JSON object. Undefined if that would be more than twice as long as the `length` of the form: full of escapes. */
  *json(length: number): Steps<string | undefined> {
    if (length <= LARGE_MESSAGE) return JSON.stringify(this.values);
    const maxLength = 2 * length + MAX_FIELDS * FIELD_LENGTH;
    const pieces: string[] = [];
    let written = 0;
    for (const piece of this.#jsonPieces()) {
      pieces.push(piece);
      written += piece.length;
      if (written > maxLength) return undefined;
      yield;
    }
    return pieces.join('');
  }

  *#jsonPieces(): Generator<string> {
    let before = '{';
    for (const [name, value = ''] of Object.entries(this.values)) {
      yield before;
      before = ',';
      yield* JsonText.stringPieces(name);
      if (typeof value === 'string') {
        yield ':';
        yield* JsonText.stringPieces(value);
      } else {
        for (const [i, text] of value.entries()) {
          yield i === 0 ? ':[' : ',';
          yield* JsonText.stringPieces(text);
        }
        yield ']';
      }
    }
    yield before === '{' ? '{}' : '}';
  }
}

function unescapedPart(text: string): Buffer {
  return unescapeBuffer(text.replaceAll('+', ' '));
}

/** Undoes the encoding of a name or value. */
function* unescaped(text: string): Steps<Buffer> {
  const parts: Buffer[] = [];
  for (let start = 0, end: number; start < text.length; start = end) {
    end = start + PART_LENGTH;
    // An escape stays whole.
    const percent = text.slice(end - 2, end).indexOf('%');
    if (percent !== -1) end += percent - 2;
    parts.push(unescapedPart(text.slice(start, end)));
    yield;
  }
  return Buffer.concat(parts);
}
