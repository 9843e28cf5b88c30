import { unescapeBuffer } from 'node:querystring';
import { Charset } from '../http/content/charset';
import { LARGE_MESSAGE } from '../util/promises';

const MAX_FIELDS = 10_000;

/** Characters of JSON for a field besides its name and its value. */
const FIELD_LENGTH = 8;

/** Stands for a name or value that is not text: a lone surrogate, which no decoded text holds. */
export const UNDECODABLE = '\uD800';

/** Text of a form that needs no decoding, in any character set that has ASCII. */
const PLAIN = /^[ -$&-*,-~]*$/;

/** The fields of a form or query string (`application/x-www-form-urlencoded`). */
export class FormFields {
  private constructor(
    /** In the order sent: a list for a repeated name; {@link UNDECODABLE} for what is not text in the character set. */
    readonly values: ReadonlyMap<string, string | string[]>,
    readonly hasUndecodable: boolean,
  ) {}

  /** Parses fields, each character standing for one byte. Returns undefined for more than 10,000. */
  static parse(encoded: string, charset = Charset.utf8): FormFields | undefined {
    const fields = encoded.split('&', MAX_FIELDS + 1);
    if (fields.length > MAX_FIELDS) return undefined;
    const values = new Map<string, string | string[]>();
    const decoder = charset.decoder();
    let hasUndecodable = false;
    const decoded = (part: string): string => {
      const text = PLAIN.test(part) ? part : decoder?.(unescapeBuffer(part.replaceAll('+', ' ')));
      if (text === undefined) hasUndecodable = true;
      return text ?? UNDECODABLE;
    };
    for (const field of fields) {
      if (field === '') continue;
      const equals = field.indexOf('=');
      const name = decoded(equals === -1 ? field : field.slice(0, equals));
      const value = equals === -1 ? '' : decoded(field.slice(equals + 1));
      const others = values.get(name);
      if (others === undefined) values.set(name, value);
      else if (typeof others === 'string') values.set(name, [others, value]);
      else others.push(value);
    }
    return new FormFields(values, hasUndecodable);
  }

  /** Writes them as a JSON object. Undefined if that would be more than twice as long as the `length` of the form: full of escapes. */
  json(length: number): string | undefined {
    const members = [...this.values].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    const json = `{${members.join(',')}}`;
    const maxLength = 2 * length + MAX_FIELDS * FIELD_LENGTH;
    return length > LARGE_MESSAGE && json.length > maxLength ? undefined : json;
  }
}
