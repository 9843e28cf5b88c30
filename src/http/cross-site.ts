import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Config } from '../config/config';
import { isLoopback } from '../config/open-service';
import { memoized, shortened } from '../util/text';
import type { Callers } from './callers';
import { HTTP_ERRORS } from './errors';

/** Throws a {@link RequestError} where a request is refused. */
export type RequestCheck = (request: IncomingMessage) => void;

/** Tells what shows that a page of another site made a browser send a request; undefined where nothing does. */
export type OtherSite = (request: IncomingMessage) => string | undefined;

/**
 * Makes the function that recognizes requests of other sites' pages: a browser adds to them the credentials that it keeps for this
 * address. It says where the page is from (Fetch Metadata), but over plain HTTP to loopback addresses alone; the `Origin` it
 * says with every POST. Other origins of the same site are not this service either. Programs send neither.
 */
export function otherSites({ baseUrl }: Pick<Callers, 'baseUrl'>): OtherSite {
  return (request) => {
    const { 'sec-fetch-site': site, origin, host } = request.headers;
    if (site === 'cross-site' || site === 'same-site') return 'Sec-Fetch-Site';
    if (origin === undefined || site === 'same-origin' || site === 'none') return undefined;
    // Behind a proxy about which nothing is configured the scheme may differ.
    const authority = /^https?:\/\/(.+)$/.exec(origin)?.[1];
    if (authority !== undefined && (authority === host?.toLowerCase() || authority === new URL(baseUrl(request)).host))
      return undefined;
    return `Origin; if ${shortened(origin)} is this service, set BASE_URL to it`;
  };
}

/** Throws 403 for what a page of another site sent. */
export function refuseOtherSites(request: IncomingMessage, otherSite: OtherSite): void {
  const shownBy = otherSite(request);
  if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
}

/** The settings that say who can reach the service. */
export type LocalConfig = Pick<Config, 'host' | 'baseUrl' | 'trustProxy' | 'access' | 'allowedHosts'>;

/**
 * Makes the check of calls that no key guards, for a service that only this machine reaches; undefined for any other service.
 * Refuses with 403 what a page of another site sends, and every name and address under which a browser would not say so: all but
 * loopback ones may have been made to lead here, or lead here by themselves, as `0.0.0.0` and the name of this machine.
 * Another address is that of a program that passes calls on.
 */
export function localCallerCheck(config: LocalConfig, otherSite: OtherSite): RequestCheck | undefined {
  if (!isLocal(config)) return undefined;
  const { allowedHosts = [] } = config;
  const isTaken = memoized((host: string) => {
    const name = hostName({ host });
    return allowedHosts.includes(name) || !mayLeadHere(name);
  });
  return (request) => {
    refuseOtherSites(request, otherSite);
    const { host } = request.headers;
    if (host !== undefined && !isTaken(host)) throw HTTP_ERRORS.unknownHost(hostName({ host }));
  };
}

/** Whether only this machine reaches the service. */
export function isLocal({ host, baseUrl, trustProxy }: LocalConfig): boolean {
  return isLoopback(host) && baseUrl === undefined && trustProxy === 0;
}

/** Whether a page of another site may reach a loopback address under a name, and its browser not say that it is of another site. */
export function mayLeadHere(name: string): boolean {
  const { hostname } = new URL(`http://${name}`);
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? !isLoopback(address) : /^(?:0\.0\.0\.0|::|::ffff:.*)$/.test(address);
}

/** The name in `Host`, which the server has checked, without its port. */
export function hostName({ host = '' }: IncomingHttpHeaders): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}
