import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request as a target received it. */
export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** When it had arrived, in milliseconds since 1970-01-01T00:00Z. */
  readonly at: number;
}

/** What a target does with a request: answers with a status, says nothing, or closes the connection. */
export type Reaction =
  | number
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'silence'
  | 'close';

export type Target = Awaited<ReturnType<typeof startTarget>>;

/**
 * Starts an HTTP server on the loopback interface that remembers what it receives.
 *
 * @param react - is given a request and how many came before it; without it the answer is 204.
 */
export async function startTarget(
  react: (request: Received, before: number) => Reaction = () => 204,
  { tls }: { readonly tls?: { readonly cert: Buffer; readonly key: Buffer } } = {},
) {
  const received: Received[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url: path, headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks), at: Date.now() };
      received.push(one);
      const reaction = react(one, received.length - 1);
      if (reaction === 'silence') return;
      if (reaction === 'close') {
        request.socket.destroy();
        return;
      }
      const answer = typeof reaction === 'number' ? { status: reaction } : reaction;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${String(port)}`,
    received,
    /** How many connections it had. */
    connections: () => connections,
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
