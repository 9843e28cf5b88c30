import { BlockList, isIP } from 'node:net';
import type { Config } from '../config/config';

/**
 * Returns a warning for each kind of call that is open to every caller who reaches the service. Only this machine reaches a service
 * that listens on a loopback address and has no proxy in front; `TLS_CLIENT_CA` keeps others out as keys do.
 */
export function openServiceWarnings({ host, baseUrl, trustProxy, access, tls }: Config): string[] {
  const hasProxy = trustProxy !== 0 || (baseUrl !== undefined && !isLoopback(new URL(baseUrl).hostname));
  if (isLoopback(host) && !hasProxy) return [];
  // A proxy has a certificate of its own; its callers need none.
  if (tls?.clientCa !== undefined && trustProxy === 0) return [];
  const { readKeys, ...credentials } = access;
  const warnings: string[] = [];
  if (Object.values(credentials).every((credential) => credential === undefined))
    warnings.push(
      'anybody who reaches this address may record events: set RECORD_KEYS, WEBHOOK_SECRETS or the secrets of a sender',
    );
  if (readKeys === undefined)
    warnings.push('anybody who reaches this address may read events and metrics: set READ_KEYS');
  return warnings;
}

/** Whether a host name or an address is one of this machine alone; an IPv6 address may have brackets. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  if (family === 0) return /^(?:.+\.)?localhost\.?$/i.test(address);
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  return loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
