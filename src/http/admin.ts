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

/** Whether the process answers, and whether it can do its work. */
const HEALTH = ['/healthz', '/readyz'] as const;

/** In the format of Prometheus. */
const METRICS = '/metrics';

/** Most connections of an address of its own. They have descriptors that callers cannot use up. */
const MAX_CONNECTIONS = 50;

type Path = '/' | (typeof HEALTH)[number] | typeof METRICS;

/** The pages for the operator: health, readiness and metrics. */
export class AdminPages {
  #checking: Promise<void> | undefined;
  #stopping = false;

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
    try {
      await within(
        this.#checking,
        CHECK_TIMEOUT,
        () => new Error(`The check takes longer than ${String(CHECK_TIMEOUT)} ms.`),
      );
      return undefined;
    } catch (error) {
      return plainReason(error);
    }
  }

  /** Returns health and, if `checkReader` refuses those who may not read them, the metrics. */
  ofPublicAddress(checkReader?: (request: HttpRequest) => void): ServerOptions['pages'] {
    return new Map([...this.#at(HEALTH), ...(checkReader ? this.#at([METRICS], checkReader) : [])]);
  }

  /** Starts a server for the operator, with `/`, which lists the pages. Throws as `HttpServer.listen`; `check` throws why a request is refused. */
  async listen(
    address: NonNullable<Config['admin']>,
    options: Pick<ServerOptions, 'limits' | 'rate' | 'observer'>,
    check: (request: HttpRequest) => void,
  ) {
    const limits = { ...options.limits, maxConnections: Math.min(options.limits.maxConnections, MAX_CONNECTIONS) };
    const server = new HttpServer({ ...options, limits, pages: this.#at(['/', ...HEALTH, METRICS], check) });
    const port = await server.listen(address, 'ADMIN_');
    return {
      url: `http://${Proxies.localAuthority(address.host, port)}/`,
      close: (deadline?: number) => server.close(0, deadline),
    };
  }

  /** Returns the pages at these paths, for requests that `check` does not refuse. */
  #at(paths: readonly Path[], check?: (request: HttpRequest) => void): ServerOptions['pages'] {
    const page = async (request: HttpRequest, response: HttpResponse, path: Path): Promise<void> => {
      const { method } = request;
      if (method === 'OPTIONS') response.replyWithoutBody(204, { Allow: ALLOWED });
      else if (method !== 'GET' && method !== 'HEAD') throw HTTP_ERRORS.method('Use GET.', ALLOWED);
      else {
        check?.(request);
        await this.#answer(path, response);
      }
    };
    return new Map(paths.map((path) => [path, (request, response) => page(request, response, path)]));
  }

  async #answer(path: Path, response: HttpResponse): Promise<void> {
    if (path === '/') response.replyText(200, [...HEALTH, METRICS].join('\n'));
    else if (path === '/healthz') response.replyText(200, 'alive');
    else if (path === METRICS) response.reply(200, this.metrics.contentType, await this.metrics.metrics());
    else {
      const problem = await this.problem();
      response.replyText(problem === undefined ? 200 : 503, problem ?? 'ready');
    }
  }
}
