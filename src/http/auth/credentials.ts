import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Whether a key is valid. */
export type KeyCheck = (given: string) => boolean;

/**
 * Makes the check for a set of keys. It compares digests of equal length, always all of them and each in constant time, so
 * that the time of an answer says nothing about a key.
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
 * Lists the keys in the header fields: `Authorization: Bearer` (RFC 6750), the password of `Authorization: Basic`
 * (RFC 7617), and `X-API-Key`.
 */
export function presentedKeys({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  const basic = /^basic +(\S+) *$/i.exec(authorization)?.[1];
  const password = basic === undefined ? undefined : passwordOf(basic);
  return [apiKey, bearer, password].filter((key) => typeof key === 'string');
}

/** The password in the value of `Authorization: Basic`: what follows the first colon, if there is one. */
function passwordOf(basic: string): string | undefined {
  const pair = Buffer.from(basic, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? undefined : pair.slice(colon + 1);
}

/** In the names of header fields. No secrets are the keys of a delivery, a CloudEvents partition and a handshake of WebSocket. */
const SECRET =
  /auth|cookie|token|secret|pass|credential|session|jwt|signature|hmac|(?<!idempotency-|partition|websocket-)key/;

/** Whether a header field of this name, in lower case, may hold a secret. Such fields are neither kept nor shown. */
export function mayBeSecret(name: string): boolean {
  return SECRET.test(name);
}
