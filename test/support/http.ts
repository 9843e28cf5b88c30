import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { request as secureRequest } from 'node:https';
import { setImmediate } from 'node:timers';

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

const kept = new Agent({ keepAlive: true });
const origins = new Set<string>();

/** Keeps the connections to a service in this process: to open one for each request takes longer than most calls. */
export function keepConnections(url: string): void {
  origins.add(new URL(url).origin);
}

/** Closes the connections that are kept and not in use. */
export function closeIdle(): void {
  for (const sockets of Object.values(kept.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

/** Sends one request, with `Content-Length` if it has a body, or is a POST or PUT. Takes any certificate over HTTPS. */
export function send(
  url: string,
  { method = 'GET', headers = {}, body, agent }: Question = {},
): Promise<Answer & { readonly bytes: Buffer }> {
  const hasBody = body !== undefined || method === 'POST' || method === 'PUT';
  const length = hasBody && { 'Content-Length': String(Buffer.byteLength(body ?? '')) };
  return new Promise((resolve, reject) => {
    const { origin, protocol } = new URL(url);
    const own = protocol === 'http:' && origins.has(origin) && kept;
    const options = { method, headers: { ...length, ...headers }, agent: agent ?? own, rejectUnauthorized: false };
    const begin = protocol === 'https:' ? secureRequest : request;
    const outgoing = begin(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const answer = { status: response.statusCode ?? 0, headers: response.headers, body: bytes.toString(), bytes };
        // A service in this process reports a call up to two turns of the event loop after its answer.
        setImmediate(() => setImmediate(resolve, answer));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
