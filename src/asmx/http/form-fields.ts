import { parse } from 'node:querystring';
import { decode } from './charset';

/** The fields of a query string or form, in the order sent; a name that is repeated has a list. Has no prototype. */
export type ParsedFields = Record<string, string | string[] | undefined>;

/** Most fields that are read; a text with more of them stays a text. */
const MAX_FIELDS = 10_000;

/**
 * Reads `application/x-www-form-urlencoded` text whose characters each stand for one byte.
 *
 * @returns undefined where an escaped value is no text in the character set, or where there are more than 10,000 fields.
 */
export function parseFields(encoded: string, charset = 'utf-8'): ParsedFields | undefined {
  if (hasMoreThan(MAX_FIELDS, encoded)) return undefined;
  let valid = true;
  const decodeURIComponent = (part: string): string => {
    const text = decode(percentDecoded(part), charset);
    valid &&= text !== undefined;
    return text ?? part;
  };
  const fields = parse(encoded, '&', '=', { maxKeys: 0, decodeURIComponent });
  return valid ? fields : undefined;
}

function hasMoreThan(fields: number, encoded: string): boolean {
  let at = -1;
  for (let ends = 0; ends < fields; ends++) {
    at = encoded.indexOf('&', at + 1);
    if (at === -1) return false;
  }
  return true;
}

const PERCENT = 0x25;

/** Undoes percent-encoding (RFC 3986, section 2.1); what is no escape stays as it is. */
function percentDecoded(part: string): Buffer {
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

/** The value of a hexadecimal digit given as its ASCII code; NaN: it is none. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}
