import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config';
import { isLoopback } from '../../config/open-service';
import { isForwarded } from '../callers';
import { HTTP_ERRORS } from '../errors';
import { refuseOtherSites, type AccessControl } from './access';

/**
 * Checks whether a caller may look at the pages of the events.
 *
 * @throws {RequestError} 401: a read key is needed; 403: a page of another site sent it, or the pages are closed.
 */
export type ViewerCheck = (request: IncomingMessage) => void;

/**
 * Makes the check. The pages show more than `GetEvents` does, so without READ_KEYS they are open to this machine alone: the
 * service listens on a loopback address, nothing says that a proxy is in front of it, and the caller addressed it by a
 * loopback name. The last keeps out web pages whose name was made to lead to this machine (DNS rebinding).
 */
export function viewerCheck(
  { host, baseUrl, trustProxy, access: { readKeys } }: Pick<Config, 'host' | 'baseUrl' | 'trustProxy' | 'access'>,
  access: AccessControl | undefined,
): ViewerCheck {
  if (readKeys !== undefined && access !== undefined) {
    return (request) => {
      access.check('read', request, {});
    };
  }
  const isLocal = isLoopback(host) && baseUrl === undefined && trustProxy === 0;
  return (request) => {
    refuseOtherSites(request);
    if (!isLocal) throw HTTP_ERRORS.eventsClosed('This service can be reached by others.');
    if (isForwarded(request)) throw HTTP_ERRORS.eventsClosed('A proxy has sent this request on.');
    if (!isLoopback(hostName(request)))
      throw HTTP_ERRORS.eventsClosed('This request did not come to a loopback address.');
  };
}

/** The name in `Host`, which the server has checked, without its port. */
function hostName({ headers: { host = '' } }: IncomingMessage): string {
  return host.replace(/:\d*$/, '');
}
