import ipaddr from 'ipaddr.js';
import type { Config } from '../config/config';
import type { Proxies } from './proxies';
import { HTTP_ERRORS, type RequestError } from './errors';
import type { HttpRequest } from './request';

/** Clients that are counted in one period, in some 10 MB. More of them begin a new one. */
const MAX_CLIENTS = 100_000;

/** The limit of each client's requests, in periods that begin for all of them at the same time. Without `rate` there is none. */
export class RateLimit {
  readonly #counts = new Map<string, number>();
  /** When the period ends, in the time of `performance.now()`. */
  #ends = 0;

  constructor(
    private readonly rate: Config['limits']['rate'],
    private readonly proxies: Pick<Proxies, 'address'>,
    private readonly maxClients = MAX_CLIENTS,
  ) {}

  /** Counts a request, once. Throws a {@link RequestError} 429 if its client sent too many. */
  count(request: HttpRequest): void {
    const error = this.countedExcess(request);
    if (error !== undefined) throw error;
  }

  /** Counts a request, once. Returns a 429 if its client sent too many. */
  countedExcess(request: HttpRequest): RequestError | undefined {
    if (this.rate === undefined || request.isCounted) return undefined;
    request.isCounted = true;
    const { calls, milliseconds } = this.rate;
    const counts = this.#counts;
    const now = performance.now();
    const client = clientOf(this.proxies.address(request) ?? '');
    if (now >= this.#ends || (counts.size >= this.maxClients && !counts.has(client))) {
      counts.clear();
      this.#ends = now + milliseconds;
    }
    const count = counts.get(client) ?? 0;
    if (count >= calls) return HTTP_ERRORS.rate(calls, milliseconds, this.#ends - now);
    counts.set(client, count + 1);
    return undefined;
  }
}

/** With IPv6, one client chooses its addresses from a network of 64 bits (RFC 6177). */
function clientOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return 'parts' in parsed ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
