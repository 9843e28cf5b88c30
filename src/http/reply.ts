import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { requestId } from './request-id';

/** The header fields of every reply. */
export function replyHeaders(contentType: string, body: string | Buffer): OutgoingHttpHeaders {
  return {
    'Cache-Control': 'private, max-age=0',
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  };
}

/** Sends a whole reply: always with `Content-Length`, never chunked. To `HEAD` it sends the header alone. */
export function reply(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: string | Buffer,
  headers?: OutgoingHttpHeaders,
): void {
  // Not made by spreading, which costs as much as the rest of this function.
  const fields = replyHeaders(contentType, body);
  fields['X-Request-Id'] = requestId(response.req);
  if (headers !== undefined) Object.assign(fields, headers);
  response.writeHead(status, fields);
  response.end(body);
}

/** Sends a message for a person or a log: `text/plain`, one line. */
export function replyText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  reply(response, status, 'text/plain; charset=utf-8', `${text}\n`, {
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
}
