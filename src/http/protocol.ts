import type { IncomingMessage } from 'node:http';
import type { Limits } from '../config/config';
import { isAuthority } from './callers';
import { HTTP_ERRORS, type RequestError } from './errors';

/**
 * Turns a target in absolute form, as proxies write it (RFC 9112, section 3.2.2), into `Host` and origin form, and writes the
 * path in its normal form, which all other code expects. Leaves any other target as it is.
 */
export function normalizeTarget(request: IncomingMessage): void {
  const { url = '/' } = request;
  if (url.startsWith('/')) {
    if (MAY_BE_UNUSUAL.test(url)) request.url = normalized(url);
    return;
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return;
  const { host, pathname, search } = new URL(url);
  request.headers.host = host;
  request.url = normalized(pathname + search);
}

const MAY_BE_UNUSUAL = /%|\/[/.]/;
const ESCAPED_UNRESERVED = /%(?:4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae]|3\d|2[de])/gi;

/**
 * Writes the path of a target in origin form in its normal form: without escapes of unreserved characters and without dot
 * segments (RFC 3986, sections 6.2.2.2 and 6.2.2.3), and with one slash for several, as IIS does.
 */
function normalized(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  if (!MAY_BE_UNUSUAL.test(path)) return target;
  const unescaped = path.replace(ESCAPED_UNRESERVED, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
  const kept: string[] = [];
  const segments = unescaped.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment === '' || segment === '.' || segment === '..') {
      if (isLast) kept.push('');
    } else kept.push(segment);
  }
  return `/${kept.join('/')}${target.slice(path.length)}`;
}

/** Finds what Node's parser accepts although HTTP/1.1 (RFC 9112) forbids it, if anything. */
export function protocolProblem(request: IncomingMessage): RequestError | undefined {
  const { headers, httpVersion, rawHeaders, url = '' } = request;
  if (httpVersion === '0.9') return HTTP_ERRORS.noVersion();
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return HTTP_ERRORS.unsupportedVersion();
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    // Unless chunked is the last one, there is no telling where the body ends (RFC 9112, section 6.3).
    const status = /(?:^|,)[ \t]*chunked$/i.test(coding) ? 501 : 400;
    return HTTP_ERRORS.transferCoding(status);
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue' && httpVersion === '1.1')
    return HTTP_ERRORS.expectation();
  if (!url.startsWith('/') && url !== '*') return HTTP_ERRORS.invalidTarget();
  if (isHostRepeated(rawHeaders)) return HTTP_ERRORS.repeatedHost();
  // With HTTP/1.0 it may be missing.
  if (headers.host !== undefined && !isAuthority(headers.host)) return HTTP_ERRORS.invalidHost();
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

/** An error of Node's parser: bytes that it cannot read, or that do not arrive in time. */
export interface ParserError extends NodeJS.ErrnoException {
  /** Tells a version that is not supported (`Invalid HTTP version`) from one that is written wrongly. */
  readonly reason?: string;
}

/** The answer to bytes that are not a request, are too many, or do not arrive in time. */
export function unreadable({ code, reason }: ParserError, limits: Limits): RequestError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return HTTP_ERRORS.requestTimeout(limits.headersTimeout, limits.requestTimeout);
  if (code === 'HPE_HEADER_OVERFLOW') return HTTP_ERRORS.headerTooLarge(limits.maxHeaderBytes);
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return HTTP_ERRORS.chunkExtensions();
  if (reason === 'Invalid HTTP version' || code === 'HPE_PAUSED_H2_UPGRADE') return HTTP_ERRORS.unsupportedVersion();
  return HTTP_ERRORS.unreadable();
}
