import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The access that a call needs: none, a key to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** Shows that a caller may make a call: a key, or the signature of a message. */
export type Credential = 'key' | 'signature';

/** Returns the name of a key that a set holds, empty if it has none; undefined for any other key. */
export type KeyCheck = (given: string) => string | undefined;

/** Returns the check against a set of keys, with or without a name and a space before them. Its time says nothing about a key. */
export function keyCheck(keys: readonly string[]): KeyCheck {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const known = keys.map((text) => {
    const [key = '', name = ''] = text.split(/ +/).reverse();
    return { name, digest: digest(key) };
  });
  return (given) => {
    const wanted = digest(given);
    let found: string | undefined;
    for (const { name, digest } of known) if (timingSafeEqual(digest, wanted)) found = name;
    return found;
  };
}

/** Lists the keys in `X-API-Key`, `Authorization: Bearer` (RFC 6750) and, as a password, `Authorization: Basic` (RFC 7617). */
export function presentedKeys({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string[] {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const key = isBasic ? /:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] : value || undefined;
  return [apiKey, key].filter((given) => typeof given === 'string');
}
