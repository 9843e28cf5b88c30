import { parse } from 'node:querystring';
import { decode } from './charset';

/** The fields of a query string or form, in the order sent; a name that is repeated has a list. Has no prototype. */
export type ParsedFields = Record<string, string | string[] | undefined>;

/**
 * Reads `application/x-www-form-urlencoded` text whose characters each stand for one byte.
 *
 * @returns undefined where an escaped value is no text in the character set.
 */
export function parseFields(encoded: string, charset = 'utf-8'): ParsedFields | undefined {
  let valid = true;
  const decodeURIComponent = (part: string): string => {
    const text = decode(percentDecoded(part), charset);
    valid &&= text !== undefined;
    return text ?? part;
  };
  const fields = parse(encoded, '&', '=', { maxKeys: 0, decodeURIComponent });
  return valid ? fields : undefined;
}

/** Undoes percent-encoding (RFC 3986, section 2.1); what is no escape stays as it is. */
function percentDecoded(part: string): Buffer {
  const bytes = part.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
