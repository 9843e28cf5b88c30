import type { IncomingMessage } from 'node:http';
import { HTTP_ERRORS, type RequestError } from '../errors';

/**
 * Turns a target in absolute form, as proxies write it (RFC 9112, section 3.2.2), into `Host` and origin form, which all
 * other code expects. Leaves any other target as it is.
 */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/') || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.headers.host = host;
  request.url = pathname + search;
}

/** Finds what Node's parser lets pass although HTTP/1.1 (RFC 9112) does not; undefined: nothing. Closes the connection. */
export function protocolProblem(request: IncomingMessage): RequestError | undefined {
  const { headers, httpVersion, rawHeaders, url = '' } = request;
  if (httpVersion === '0.9') return HTTP_ERRORS.noVersion();
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return HTTP_ERRORS.unsupportedVersion();
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    // Without chunked as the last one nobody knows where the body ends (RFC 9112, section 6.3).
    const status = /(?:^|,)[ \t]*chunked$/i.test(coding) ? 501 : 400;
    return HTTP_ERRORS.transferCoding(status);
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue' && httpVersion === '1.1')
    return HTTP_ERRORS.expectation();
  if (!url.startsWith('/') && url !== '*') return HTTP_ERRORS.invalidTarget();
  if (isHostRepeated(rawHeaders)) return HTTP_ERRORS.repeatedHost();
  return undefined;
}

/** Node keeps the first of several `Host` lines, a proxy may have read another (RFC 9112, section 3.2). */
function isHostRepeated(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}
