import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RequestError } from './request-error';

/** Resolves when a request may go on, and rejects with a {@link RequestError} (429) when its client sent too many. */
export type RateLimit = (request: IncomingMessage) => Promise<void>;

/** Allows each client so many requests in so many milliseconds. */
export function rateLimit(
  { calls, milliseconds }: { readonly calls: number; readonly milliseconds: number },
  addressOf: (request: IncomingMessage) => string | undefined,
): RateLimit {
  const seconds = milliseconds / 1000;
  const limiter = new RateLimiterMemory({ points: calls, duration: seconds });
  return async (request) => {
    try {
      await limiter.consume(clientOf(addressOf(request) ?? ''));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      const text = `Too many requests from this address: more than ${String(calls)} in ${String(seconds)} s (RATE_LIMIT).`;
      throw new RequestError(429, text, 'rate', { 'Retry-After': String(Math.ceil(refusal.msBeforeNext / 1000)) });
    }
  };
}

/** With IPv6 one client has a network of 64 bits to choose its addresses from (RFC 6177). */
function clientOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = head.split(':').filter((group) => group !== '');
  if (tail !== undefined) while (groups.length + tail.split(':').length < 8) groups.push('0');
  return groups.slice(0, 4).join(':');
}
