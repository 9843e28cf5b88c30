import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config';
import { isLoopback } from '../../config/open-service';
import { isForwarded } from '../callers';
import { HTTP_ERRORS } from '../errors';
import { refuseOtherSites, type AccessControl, type RequestCheck } from './access';

type LocalConfig = Pick<Config, 'host' | 'baseUrl' | 'trustProxy' | 'access' | 'allowedHosts'>;

/**
 * Makes the check of who may look at the pages of the events. They show more than `GetEvents` does, so without READ_KEYS they
 * are open to this machine alone: the service listens on a loopback address, nothing says that a proxy is in front of it, and
 * the caller addressed it by a loopback name or one of ALLOWED_HOSTS. The last keeps out web pages whose name was made to lead
 * to this machine (DNS rebinding).
 *
 * @returns throws a {@link RequestError} 401: a read key is needed; 403: a page of another site sent the request, or the pages
 *   are closed.
 */
export function viewerCheck(config: LocalConfig, access: AccessControl | undefined): RequestCheck {
  const { access: keys, allowedHosts = [] } = config;
  if (keys.readKeys !== undefined && access !== undefined) {
    return (request) => {
      access.check('read', request, {});
    };
  }
  const isOpen = isLocal(config);
  return (request) => {
    refuseOtherSites(request);
    if (!isOpen) throw HTTP_ERRORS.eventsClosed('This service can be reached by others.');
    if (isForwarded(request) || SENT_ON.some((field) => request.headers[field] !== undefined))
      throw HTTP_ERRORS.eventsClosed('A proxy has sent this request on.');
    const name = hostName(request);
    if (!isLoopback(name) && !allowedHosts.includes(name))
      throw HTTP_ERRORS.eventsClosed('This request did not come to a loopback address.');
  };
}

/**
 * Makes the check of calls that no key guards, for a service that only this machine reaches; undefined for any other service.
 * What a browser sends for a page of another site is refused, and so is a name that DNS may lead here for such a page. Scripts
 * and generated clients send neither: they call a loopback name, an address or a name without dots, as containers have.
 *
 * @returns throws a {@link RequestError} 403.
 */
export function localCallerCheck(config: LocalConfig): RequestCheck | undefined {
  if (!isLocal(config)) return undefined;
  const { allowedHosts = [] } = config;
  return (request) => {
    refuseOtherSites(request);
    const name = hostName(request);
    if (isPublicName(name) && !isLoopback(name) && !allowedHosts.includes(name)) throw HTTP_ERRORS.unknownHost(name);
  };
}

/** Whether only this machine reaches the service, as its settings say. */
function isLocal({ host, baseUrl, trustProxy }: LocalConfig): boolean {
  return isLoopback(host) && baseUrl === undefined && trustProxy === 0;
}

/** Whether DNS can hold a name for a page: one with a dot, and no address. */
function isPublicName(name: string): boolean {
  return /\.[^.]*[a-z][^.]*\.?$/.test(name) && !name.startsWith('[');
}

/** Further header fields that proxies add: nothing of them is used, but they show that the caller is someone else. */
const SENT_ON = [
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-forwarded-server',
  'x-forwarded-by',
  'true-client-ip',
  'cf-connecting-ip',
];

/** The name in `Host`, which the server has checked, without its port. */
function hostName({ headers: { host = '' } }: IncomingMessage): string {
  return host.replace(/:\d*$/, '').toLowerCase();
}
