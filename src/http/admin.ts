import type { Config } from '../config/config';
import { within } from '../util/promises';
import { plainReason } from '../util/errors';
import { Proxies } from './proxies';
import { HTTP_ERRORS } from './errors';
import type { HttpRequest } from './request';
import type { ServerOptions } from './request-listener';
import type { HttpResponse } from './response';
import { HttpServer } from './server';

/** A check that takes longer than this, in milliseconds, counts as failed. */
const CHECK_TIMEOUT = 1000;

const ALLOWED = 'GET, HEAD, OPTIONS';

/** Most connections to the operator's address. Callers of the public one cannot use up their file descriptors. */
const MAX_CONNECTIONS = 50;

/** The answers to GET, by their paths. */
type Pages = Readonly<Record<string, (response: HttpResponse) => void | Promise<void>>>;

/** The pages for the operator: health, readiness and metrics. */
export class AdminPages {
  #checking: Promise<void> | undefined;
  #stopping = false;

  /** These say whether the process answers, and whether it can do its work. */
  readonly #health: Pages = {
    '/healthz': (response) => response.replyText(200, 'alive'),
    '/readyz': async (response) => {
      const problem = await this.problem();
      response.replyText(problem === undefined ? 200 : 503, problem ?? 'ready');
    },
  };

  /** In the format of Prometheus. */
  readonly #metricsPage: Pages = {
    '/metrics': async (response) => response.reply(200, this.metrics.contentType, await this.metrics.metrics()),
  };

  /** `check` rejects with the reason why the service cannot work; `metrics` may add up several workers. */
  constructor(
    private readonly check: () => Promise<void>,
    private readonly metrics: { readonly contentType: string; metrics(): Promise<string> },
  ) {}

  stop(): void {
    this.#stopping = true;
  }

  /** Resolves to the reason why the service is not ready, or to undefined if it is. Callers at the same time share one check. */
  async problem(): Promise<string | undefined> {
    if (this.#stopping) return 'stopping';
    this.#checking ??= this.check().finally(() => (this.#checking = undefined));
    const late = () => new Error(`The check takes longer than ${String(CHECK_TIMEOUT)} ms.`);
    try {
      await within(this.#checking, CHECK_TIMEOUT, late);
      return undefined;
    } catch (error) {
      return plainReason(error);
    }
  }

  /** Returns health and, with `checkReader`, the metrics: it throws why a request may not read them. */
  ofPublicAddress(checkReader?: (request: HttpRequest) => void): ServerOptions['pages'] {
    return new Map([...served(this.#health), ...(checkReader ? served(this.#metricsPage, checkReader) : [])]);
  }

  /** Starts a server for the operator, with `/`, which lists the pages. Throws as `HttpServer.listen`; `check` throws why a request is refused. */
  async listen(
    address: NonNullable<Config['admin']>,
    options: Pick<ServerOptions, 'limits' | 'rate' | 'observer'>,
    check: (request: HttpRequest) => void,
  ) {
    const limits = { ...options.limits, maxConnections: Math.min(options.limits.maxConnections, MAX_CONNECTIONS) };
    const listed = { ...this.#health, ...this.#metricsPage };
    const list: Pages = { '/': (response) => response.replyText(200, Object.keys(listed).join('\n')) };
    const server = new HttpServer({ ...options, limits, pages: served({ ...list, ...listed }, check) });
    const port = await server.listen(address, 'ADMIN_');
    return {
      url: `http://${Proxies.localAuthority(address.host, port)}/`,
      close: (deadline?: number) => server.close(0, deadline),
    };
  }
}

/** Serves pages to requests that `check` does not refuse. */
function served(pages: Pages, check?: (request: HttpRequest) => void): ServerOptions['pages'] {
  const serving = (page: Pages[string]) => async (request: HttpRequest, response: HttpResponse) => {
    if (request.method === 'OPTIONS') return response.replyWithoutBody({ Allow: ALLOWED });
    if (request.method !== 'GET' && request.method !== 'HEAD') throw HTTP_ERRORS.method('Use GET.', ALLOWED);
    check?.(request);
    await page(response);
  };
  return new Map(Object.entries(pages).map(([path, page]) => [path, serving(page)]));
}
