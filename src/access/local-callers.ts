import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config/config';
import { Proxies } from '../http/proxies';
import { HTTP_ERRORS } from '../http/errors';
import { memoized, shortened } from '../util/text';

export type LocalConfig = Pick<Config, 'host' | 'admin' | 'baseUrl' | 'trustProxy' | 'access' | 'allowedHosts' | 'tls'>;

/**
 * Returns a function that finds the sign that another site's page made a browser send a request, with the credentials it keeps. Browsers
 * say where a page is from (Fetch Metadata), over plain HTTP to loopback addresses alone, and send `Origin` with every POST.
 */
export function otherSites(proxies: Pick<Proxies, 'baseUrl'>) {
  return (request: IncomingMessage): string | undefined => {
    const { 'sec-fetch-site': site, origin, host } = request.headers;
    if (site === 'cross-site' || site === 'same-site') return 'Sec-Fetch-Site';
    if (origin === undefined || site === 'same-origin' || site === 'none') return undefined;
    // Behind a proxy about which nothing is configured the scheme may differ.
    const authority = /^https?:\/\/(.+)$/.exec(origin)?.[1] ?? '';
    if (authority === host?.toLowerCase() || authority === new URL(proxies.baseUrl(request)).host) return undefined;
    return `Origin; if ${shortened(origin)} is this service, set BASE_URL to it`;
  };
}

/** Returns the checks of calls that no key guards. They throw 403. */
export function localChecks({ host: listens, admin, baseUrl, trustProxy, allowedHosts = [], tls }: LocalConfig) {
  // 0.0.0.0 means every address; it is not a name of the service.
  const own = [listens, admin?.host ?? '', baseUrl === undefined ? '' : new URL(baseUrl).hostname]
    .filter((name) => isIP(name) === 0)
    .map((name) => name.toLowerCase());
  const isAllowed = memoized((host: string) => {
    const name = hostName(host);
    return [...own, ...allowedHosts].includes(name) || placeOf(name) !== 'unsafe';
  });
  /** Refuses a `Host` that is neither loopback's, nor an address, nor set: its name may have been pointed here (DNS rebinding). */
  const checkName = ({ headers: { host } }: IncomingMessage): void => {
    if (host !== undefined && !isAllowed(host)) throw HTTP_ERRORS.unknownHost(hostName(host));
  };
  const isLocal = isLoopback(listens) && baseUrl === undefined && trustProxy === 0;
  return {
    checkName,
    /** For calls that need no key. Checks nothing behind a proxy or with TLS: the proxy, or the certificate, rejects foreign names. */
    checkNameOfUnguardedCall: trustProxy === 0 && tls === undefined ? checkName : () => undefined,

    /**
     * Who may look at the pages of the events: none unless the service listens on a loopback address, no proxy is in front of it, and the
     * caller used a loopback name or one of ALLOWED_HOSTS.
     */
    checkLocalViewer(this: void, request: IncomingMessage): void {
      if (!isLocal) throw HTTP_ERRORS.eventsClosed('This service can be reached by others.');
      if (Proxies.isForwarded(request) || Object.keys(request.headers).some((field) => SENT_ON.test(field)))
        throw HTTP_ERRORS.eventsClosed('A proxy has sent this request on.');
      const name = hostName(request.headers.host);
      if (placeOf(name) !== 'loopback' && !allowedHosts.includes(name))
        throw HTTP_ERRORS.eventsClosed('This request did not come to a loopback address.');
    },
  };
}

/** Further header fields that proxies add. They are not used, but show that the caller is another machine. */
const SENT_ON = /^(?:via|x-real-ip|x-client-ip|x-forwarded-server|x-forwarded-by|true-client-ip|cf-connecting-ip)$/;

/** Where a name in `Host` leads. `unsafe`: a page of another site may reach this machine under it, without Fetch Metadata. */
function placeOf(name: string): 'loopback' | 'elsewhere' | 'unsafe' {
  const address = new URL(`http://${name || '0.0.0.0'}`).hostname.replace(/^\[|\]$/g, '');
  if (/^(?:0\.0\.0\.0|::|::ffff:.*)$/.test(address)) return 'unsafe';
  if (isLoopback(address)) return 'loopback';
  return isIP(address) === 0 ? 'unsafe' : 'elsewhere';
}

/** The name in `Host`, which the server has checked, without its port. */
function hostName(host = ''): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}

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
  const names = trustProxy === 0 && tls === undefined ? ' by IP address, as localhost or as one of ALLOWED_HOSTS' : '';
  const anybody = `anybody who reaches this address${names} may`;
  if (Object.values(credentials).every((credential) => credential === undefined))
    warnings.push(`${anybody} record events: set RECORD_KEYS, WEBHOOK_SECRETS or the secrets of a sender`);
  if (readKeys === undefined) warnings.push(`${anybody} read events and metrics: set READ_KEYS`);
  return warnings;
}

/** Whether a host name or an address is one of this machine alone; an IPv6 address may have brackets. */
function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 0) return /^(?:.+\.)?localhost\.?$/i.test(address);
  return ipaddr.process(address).range() === 'loopback';
}
