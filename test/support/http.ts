import { request, type Agent, type IncomingHttpHeaders } from 'node:http';
import { request as secureRequest } from 'node:https';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Keeps connections open, if they are not to be closed after the answer. */
  readonly agent?: Agent;
}

/**
 * Sends one request, with `Content-Length` if it has a body or is a POST. Takes any certificate over
 * HTTPS.
 */
export function send(
  url: string,
  { method = 'GET', headers = {}, body, agent }: Question = {},
): Promise<Answer & { readonly bytes: Buffer }> {
  const length =
    body !== undefined || method === 'POST' || method === 'PUT'
      ? { 'Content-Length': String(Buffer.byteLength(body ?? '')) }
      : {};
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...length, ...headers }, agent: agent ?? false, rejectUnauthorized: false };
    const begin = url.startsWith('https:') ? secureRequest : request;
    const outgoing = begin(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes.toString(), bytes });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
