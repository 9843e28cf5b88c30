import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config/config';
import { Callers } from '../http/callers';
import { HTTP_ERRORS } from '../http/errors';
import { memoized, shortened } from '../util/text';

export type LocalConfig = Pick<Config, 'host' | 'admin' | 'baseUrl' | 'trustProxy' | 'access' | 'allowedHosts' | 'tls'>;

/** Returns the sign that a page of another site made a browser send a request; undefined if there is none. */
export type OtherSite = (request: IncomingMessage) => string | undefined;

/**
 * Returns a function that recognizes requests of other sites' pages, to which a browser adds the credentials that it keeps. Browsers
 * say where a page is from (Fetch Metadata), over plain HTTP to loopback addresses alone, and send `Origin` with every POST.
 */
export function otherSites(callers: Pick<Callers, 'baseUrl'>): OtherSite {
  return (request) => {
    const { 'sec-fetch-site': site, origin, host } = request.headers;
    if (site === 'cross-site' || site === 'same-site') return 'Sec-Fetch-Site';
    if (origin === undefined || site === 'same-origin' || site === 'none') return undefined;
    // Behind a proxy about which nothing is configured the scheme may differ.
    const authority = /^https?:\/\/(.+)$/.exec(origin)?.[1] ?? '';
    if (authority === host?.toLowerCase() || authority === new URL(callers.baseUrl(request)).host) return undefined;
    return `Origin; if ${shortened(origin)} is this service, set BASE_URL to it`;
  };
}

/**
 * Returns the checks of the name under which a call came that no key guards. They throw 403 for a name that is neither loopback's, nor
 * an address, nor set: it may have been pointed here (DNS rebinding), and so may `0.0.0.0`. `checkHost` leaves that to a proxy, and to
 * TLS, whose certificate such a name does not have.
 */
export function hostChecks({ host: listens, admin, baseUrl, trustProxy, allowedHosts = [], tls }: LocalConfig) {
  // 0.0.0.0 means every address; it is not a name of the service.
  const own = [listens, admin?.host ?? '', baseUrl === undefined ? '' : new URL(baseUrl).hostname]
    .filter((name) => isIP(name) === 0)
    .map((name) => name.toLowerCase());
  const isAllowed = memoized((host: string) => {
    const name = hostName({ host });
    return [...own, ...allowedHosts].includes(name) || !mayBeRebound(name);
  });
  const checkName = ({ headers: { host } }: IncomingMessage): void => {
    if (host !== undefined && !isAllowed(host)) throw HTTP_ERRORS.unknownHost(hostName({ host }));
  };
  return { checkName, checkHost: trustProxy === 0 && tls === undefined ? checkName : () => undefined };
}

/**
 * Returns the check of who may look at the pages of the events if no key guards them. It throws 403 unless the service listens on a
 * loopback address, no proxy is in front of it, and the caller used a loopback name or one of ALLOWED_HOSTS (DNS rebinding).
 */
export function viewerCheck(config: LocalConfig): (request: IncomingMessage) => void {
  const { allowedHosts = [] } = config;
  const isOpen = isLoopback(config.host) && config.baseUrl === undefined && config.trustProxy === 0;
  return (request) => {
    if (!isOpen) throw HTTP_ERRORS.eventsClosed('This service can be reached by others.');
    if (Callers.isForwarded(request) || Object.keys(request.headers).some((field) => SENT_ON.test(field)))
      throw HTTP_ERRORS.eventsClosed('A proxy has sent this request on.');
    const name = hostName(request.headers);
    const isLocalName = isLoopback(name) && !mayBeRebound(name);
    if (!isLocalName && !allowedHosts.includes(name))
      throw HTTP_ERRORS.eventsClosed('This request did not come to a loopback address.');
  };
}

/** Further header fields that proxies add. They are not used, but show that the caller is another machine. */
const SENT_ON = /^(?:via|x-real-ip|x-client-ip|x-forwarded-server|x-forwarded-by|true-client-ip|cf-connecting-ip)$/;

/** Whether a page of another site may reach a loopback address under this name although its browser sends no Fetch Metadata. */
function mayBeRebound(name: string): boolean {
  const { hostname } = new URL(`http://${name}`);
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? !isLoopback(address) : /^(?:0\.0\.0\.0|::|::ffff:.*)$/.test(address);
}

/** The name in `Host`, which the server has checked, without its port. */
function hostName({ host = '' }: IncomingHttpHeaders): string {
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
