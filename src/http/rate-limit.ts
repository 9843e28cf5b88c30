import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Limits } from '../config/config';
import { HTTP_ERRORS } from './errors';

/**
 * Counts a request of a client.
 *
 * @throws {RequestError} 429: the client sent too many.
 */
export type RateLimit = (request: IncomingMessage) => void;

/** Clients that are counted in one period, in some 10 MB. More of them begin a new one. */
const MAX_CLIENTS = 100_000;

/**
 * Limits the requests of each client, in periods that begin for all of them at the same time.
 *
 * @param addressOf - the client's network address
 */
export function rateLimit(
  { calls, milliseconds }: NonNullable<Limits['rate']>,
  addressOf: (request: IncomingMessage) => string | undefined,
  maxClients = MAX_CLIENTS,
): RateLimit {
  const counts = new Map<string, number>();
  let ends = performance.now() + milliseconds;
  return (request) => {
    const now = performance.now();
    const client = clientOf(addressOf(request) ?? '');
    if (now >= ends || (counts.size >= maxClients && !counts.has(client))) {
      counts.clear();
      ends = now + milliseconds;
    }
    const count = counts.get(client) ?? 0;
    if (count >= calls) throw HTTP_ERRORS.rate(calls, milliseconds, ends - now);
    counts.set(client, count + 1);
  };
}

/** With IPv6, one client chooses its addresses from a network of 64 bits (RFC 6177). */
function clientOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
