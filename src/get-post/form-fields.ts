import { parse } from 'node:querystring';
import { decode } from '../http/content/content-type';

/** Text with more fields than this is not parsed. */
const MAX_FIELDS = 10_000;

/** Named values of a query string or form: a string for a name that occurs once, a list for a repeated one. */
export type NamedValues = Record<string, string | string[] | undefined>;

/** The fields of a form or query string. */
export interface FormFields {
  /**
   * In the order sent, without a prototype. A name or value whose escapes are not text in the character set is
   * {@link UNDECODABLE}.
   */
  readonly values: NamedValues;
  readonly hasUndecodable: boolean;
}

/** Stands for a name or value that is not text: a lone surrogate, which no decoded text holds. */
export const UNDECODABLE = '\uD800';

/**
 * Parses `application/x-www-form-urlencoded`, each character standing for one byte. Returns undefined for more than 10,000
 * fields.
 */
export function parseFormFields(encoded: string, charset = 'utf-8'): FormFields | undefined {
  if (hasMoreThan(MAX_FIELDS, encoded)) return undefined;
  let hasUndecodable = false;
  const decodeURIComponent = (part: string): string => {
    const text = decode(percentDecoded(part), charset);
    if (text === undefined) hasUndecodable = true;
    return text ?? UNDECODABLE;
  };
  const values = parse(encoded, '&', '=', { maxKeys: 0, decodeURIComponent });
  return { values, hasUndecodable };
}

function hasMoreThan(fields: number, encoded: string): boolean {
  let at = -1;
  for (let found = 0; found < fields; found++) {
    at = encoded.indexOf('&', at + 1);
    if (at === -1) return false;
  }
  return true;
}

const PERCENT = 0x25;

/** Decodes percent-encoding (RFC 3986, section 2.1); a percent sign that does not start an escape is kept. */
export function percentDecoded(part: string): Buffer {
  const bytes = Buffer.from(part, 'latin1');
  let length = 0;
  for (let i = 0; i < part.length; i++) {
    const value = bytes[i] === PERCENT ? 16 * hexDigit(bytes[i + 1]) + hexDigit(bytes[i + 2]) : NaN;
    if (Number.isNaN(value)) bytes[length++] = bytes[i] ?? 0;
    else {
      bytes[length++] = value;
      i += 2;
    }
  }
  return bytes.subarray(0, length);
}

/** The value of the hexadecimal digit with an ASCII code; NaN for any other character. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}
