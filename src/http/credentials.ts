import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Tells whether a key is one of those that are valid. */
export type KeyCheck = (given: string) => boolean;

/**
 * Makes the check for a set of keys. Digests of equal length are compared, each of them in constant time and all of them
 * always, so that the time an answer takes says nothing of a key.
 */
export function keyCheck(keys: readonly string[]): KeyCheck {
  const digests = keys.map(digest);
  return (given) => {
    const wanted = digest(given);
    let found = false;
    for (const known of digests) found = timingSafeEqual(known, wanted) || found;
    return found;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * The keys that header fields carry: `Authorization: Bearer` (RFC 6750), the password of `Authorization: Basic`
 * (RFC 7617), and `X-API-Key`.
 */
export function presentedKeys({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string[] {
  const keys = typeof apiKey === 'string' ? [apiKey] : [];
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization ?? '') ?? [];
  if (/^bearer$/i.test(scheme)) keys.push(value);
  if (/^basic$/i.test(scheme)) {
    const [, password] = /^[^:]*:([\s\S]*)$/.exec(Buffer.from(value, 'base64').toString()) ?? [];
    if (password !== undefined) keys.push(password);
  }
  return keys;
}
