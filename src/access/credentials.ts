import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The access that a call needs: none, a key to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** Shows that a caller may make a call: a key, or the signature of a message. */
export type Credential = 'key' | 'signature';

/** Returns the name of a key that a set holds, empty if it has none; undefined for any other key. */
export type KeyCheck = (given: string) => string | undefined;

/**
 * Returns a function that checks a key against a set, in which a name and a space may stand before a key. It compares all digests, each
 * in constant time: its time says nothing about a key.
 */
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

/**
 * Lists the keys in the header fields: `Authorization: Bearer` (RFC 6750), the password of `Authorization: Basic`
 * (RFC 7617), and `X-API-Key`.
 */
export function presentedKeys({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const basic = /^basic +(\S+) *$/i.exec(authorization)?.[1];
  const password = basic === undefined ? undefined : passwordOf(basic);
  return [apiKey, bearer, password].filter((key) => typeof key === 'string');
}

/** The password in the value of `Authorization: Basic`: the text after the first colon, if there is one. */
function passwordOf(basic: string): string | undefined {
  const pair = Buffer.from(basic, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? undefined : pair.slice(colon + 1);
}
