import type { Limits } from '../../config/config';
import { HTTP_ERRORS, type RequestError } from '../errors';

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
