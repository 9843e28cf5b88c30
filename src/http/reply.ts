import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { hasMuchToCome, stopReading } from './connection/closing';
import type { RequestError } from './errors';
import { requestId } from './request-id';

/** Replies depend on the caller and on the log: a cache may keep them for one caller and asks before it uses them again. */
const CACHE_CONTROL = 'private, max-age=0';

/** The header fields that every reply has. */
export function replyHeaders(contentType: string, body: string | Buffer): OutgoingHttpHeaders {
  return {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  };
}

/** Sends a whole reply, with `Content-Length` and never chunked. `HEAD` gets the header alone. */
export function reply(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Buffer,
  headers?: OutgoingHttpHeaders,
): void {
  // Spreading would cost as much as the rest of this function.
  const fields = replyHeaders(contentType, body);
  fields['X-Request-Id'] = requestId(response.req);
  if (headers !== undefined) Object.assign(fields, headers);
  if (hasMuchToCome(response.req)) {
    fields.Connection = 'close';
    stopReading(response.req);
  }
  // Said before the header is made, so that requests that arrive after this one are not acted on.
  if (fields.Connection === 'close') response.shouldKeepAlive = false;
  response.writeHead(status, fields);
  response.end(body);
}

/** Sends header fields alone: 204, or 304 with those of the reply that the caller has (RFC 9110, section 15.4.5). */
export function replyWithoutBody(response: ServerResponse, status: 204 | 304, headers: OutgoingHttpHeaders): void {
  const fields = { 'Cache-Control': CACHE_CONTROL, 'X-Request-Id': requestId(response.req), ...headers };
  response.writeHead(status, fields).end();
}

/** Sends an error as `text/plain`. */
export function replyError(response: ServerResponse, { status, message, headers }: RequestError): void {
  replyText(response, status, message, headers);
}

/** Sends one line of `text/plain`, for a person or a log. */
export function replyText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  reply(response, status, 'text/plain; charset=utf-8', `${text}\n`, {
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
}
