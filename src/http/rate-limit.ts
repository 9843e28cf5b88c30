import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory';
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes';
import type { Limits } from '../config/config';
import { HTTP_ERRORS } from './errors';

/** Resolves when a request may go on; rejects with a `RequestError` (429) when its client sent too many. */
export type RateLimit = (request: IncomingMessage) => Promise<void>;

/**
 * Limits the requests of each client, in periods that begin for all of them at the same time.
 *
 * @param addressOf - the client's network address
 */
export function rateLimit(
  { calls, milliseconds }: NonNullable<Limits['rate']>,
  addressOf: (request: IncomingMessage) => string | undefined,
): RateLimit {
  let limiter = new RateLimiterMemory({ points: calls, duration: NEVER });
  let ends = performance.now() + milliseconds;
  return async (request) => {
    const now = performance.now();
    if (now >= ends) {
      limiter = new RateLimiterMemory({ points: calls, duration: NEVER });
      ends = now + milliseconds;
    }
    try {
      await limiter.consume(clientOf(addressOf(request) ?? ''));
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      throw HTTP_ERRORS.rate(calls, milliseconds, ends - now);
    }
  };
}

/** The library would count a period with a timer for each client, which Node limits to 24 days. */
const NEVER = 0;

/** With IPv6, one client chooses its addresses from a network of 64 bits (RFC 6177). */
function clientOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
