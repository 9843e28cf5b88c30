import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A key that a request shows. */
export interface ShownKey {
  readonly key: string;
  /** `browser`: one adds it by itself, also to what a page of another site sends. `address`: it opens recording alone. */
  readonly from: 'caller' | 'browser' | 'address';
}

/** Returns the check against a set of keys, with or without a name and a space before them. Its time says nothing about a key. */
export function keyCheck(keys: readonly string[] = []): (given: string) => string | undefined {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  const known = keys.map((text) => ({ name: text.replace(/ *\S+$/, ''), digest: digest(withoutName(text)) }));
  return (given) => {
    const wanted = digest(given);
    let found: string | undefined;
    for (const { name, digest } of known) if (timingSafeEqual(digest, wanted)) found = name;
    return found;
  };
}

export function withoutName(key: string): string {
  return key.replace(/^.* /, '');
}

/** Lists the keys in `X-API-Key`, `Authorization: Bearer` (RFC 6750) and, as a password, `Authorization: Basic` (RFC 7617). */
export function keysIn({ authorization = '', 'x-api-key': apiKey }: IncomingHttpHeaders): ShownKey[] {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const key = isBasic ? /:(.*)$/s.exec(Buffer.from(value, 'base64').toString())?.[1] : value || undefined;
  return [
    ...(typeof apiKey === 'string' ? [{ key: apiKey, from: 'caller' } as const] : []),
    ...(key === undefined ? [] : [{ key, from: isBasic ? 'browser' : 'caller' } as const]),
  ];
}
