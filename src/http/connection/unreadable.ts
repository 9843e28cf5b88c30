import type { Limits } from '../../config/config';
import { RequestError } from '../request-error';

/** What Node's parser says of bytes that it cannot read, or that do not arrive in time. */
export interface ParserError extends NodeJS.ErrnoException {
  /** Tells a version that is not supported (`Invalid HTTP version`) from one that is written wrongly. */
  readonly reason?: string;
}

/** The answer to bytes that are not a request, are too many, or do not arrive in time. */
export function unreadable({ code, reason }: ParserError, limits: Limits): RequestError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const header = `its header in ${seconds(limits.headersTimeout)} (HEADERS_TIMEOUT)`;
    const whole = `all of it in ${seconds(limits.requestTimeout)} (REQUEST_TIMEOUT)`;
    return new RequestError(408, `The request did not come in time: ${header}, ${whole}.`, 'timeout');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    const max = String(limits.maxHeaderBytes);
    return new RequestError(431, `The header has more than ${max} bytes (MAX_HEADER_BYTES).`, 'too-large');
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new RequestError(413, 'The body has chunk extensions of more than 16 KiB.', 'too-large');
  if (reason === 'Invalid HTTP version' || code === 'HPE_PAUSED_H2_UPGRADE')
    return new RequestError(505, 'Only HTTP/1.1 and HTTP/1.0 are supported.');
  return new RequestError(400, 'This is not a valid HTTP request.');
}

/** Writes milliseconds as seconds. */
export function seconds(milliseconds: number): string {
  return `${String(milliseconds / 1000)} s`;
}
