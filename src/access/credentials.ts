import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The access that a call needs: none, a key to record, or a key to read. */
export type Access = 'open' | 'record' | 'read';

/** Shows that a caller may make a call: a key, or the signature of a message. */
export type Credential = 'key' | 'signature';

/**
 * Returns a function that checks a key against a set. It compares all digests, each in constant time: its time says nothing about a
 * key.
 */
export function keyCheck(keys: readonly string[]): (given: string) => boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const digests = keys.map(digest);
  return (given) => {
    const wanted = digest(given);
    let found = false;
    for (const known of digests) found = timingSafeEqual(known, wanted) || found;
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
