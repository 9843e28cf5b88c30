import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isAuthority } from './caller';
import { Readiness } from './readiness';
import { replyText } from './reply';
import { RequestError } from './request-error';

/** Answers a request, or calls `next`: without an error where it is not for it, with one where it failed. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** A load balancer keeps its connections idle for a minute; whoever closes first must not be the service. */
const KEEP_ALIVE_TIMEOUT = 65_000;
const HEADERS_TIMEOUT = 70_000;

/** How long calls in flight may take to finish after a stop was asked for, in milliseconds. */
const STOP_TIMEOUT = 10_000;

/** The HTTP server: `GET /readyz`, and one handler for everything else. */
export class HttpServer {
  readonly #server: Server;
  readonly #readiness: Readiness;
  #stopping = false;

  /** `check` resolves when the service can do its work, and rejects with the reason when it cannot. */
  constructor(handler: Handler, check: () => Promise<void>) {
    this.#readiness = new Readiness(check);
    const timeouts = { keepAliveTimeout: KEEP_ALIVE_TIMEOUT, headersTimeout: HEADERS_TIMEOUT };
    this.#server = createServer(timeouts, (request, response) => {
      this.#answer(request, response, handler);
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
    if (this.#stopping) response.setHeader('Connection', 'close');
    if (!hasValidTarget(request)) replyText(response, 400, 'The Host header is not a valid authority.');
    else if (request.url === '/readyz') void this.#ready(request, response);
    else {
      handler(request, response, (error) => {
        unhandled(response, error);
      });
    }
  }

  async #ready(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      replyText(response, 405, 'Use GET.', { Allow: 'GET, HEAD' });
    } else if (this.#stopping) {
      replyText(response, 503, 'stopping');
    } else {
      const problem = await this.#readiness.problem();
      if (problem === undefined) replyText(response, 200, 'ready');
      else replyText(response, 503, problem);
    }
  }

  /**
   * Starts to listen; resolves to the port.
   *
   * @throws the address is in use, or not one of this machine.
   */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** Takes no new connection and resolves when every call in flight is answered, or after ten seconds. */
  async close(): Promise<void> {
    this.#stopping = true;
    const server = this.#server;
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    server.closeIdleConnections();
    const sweep = setInterval(() => {
      server.closeIdleConnections();
    }, 50);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
    }, STOP_TIMEOUT);
    await closed;
    clearInterval(sweep);
    clearTimeout(deadline);
  }
}

/** The last `Host` that was found valid: nearly every request has the same. */
let validHost = '';

/**
 * Checks the authority of a request. A target in absolute form (RFC 9112, section 3.2.2), as proxies write it, is first
 * turned into `Host` and path.
 */
function hasValidTarget(request: IncomingMessage): boolean {
  const { url = '/' } = request;
  if (!url.startsWith('/') && URL.canParse(url)) {
    const { host, pathname, search } = new URL(url);
    request.headers.host = host;
    request.url = pathname + search;
  }
  const { host } = request.headers;
  if (host === undefined || host === validHost) return true;
  if (!isAuthority(host)) return false;
  validHost = host;
  return true;
}

function unhandled(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error === undefined || error === null) {
    replyText(response, 404, 'There is nothing at this address.');
    return;
  }
  if (error instanceof RequestError) replyText(response, error.status, error.message);
  else if ((error as { status?: unknown }).status === 400) replyText(response, 400, 'The address is not valid.');
  else replyText(response, 500, 'The request could not be answered.');
}
