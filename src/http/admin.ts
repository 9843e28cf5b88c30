import type { Config } from '../config/config';
import { within } from '../util/promises';
import { plainReason } from '../util/errors';
import { Callers } from './callers';
import { HTTP_ERRORS } from './errors';
import type { HttpRequest } from './request';
import type { ServerOptions } from './request-listener';
import type { HttpResponse } from './response';
import { HttpServer } from './server';

/** A check that takes longer than this, in milliseconds, counts as failed. */
const CHECK_TIMEOUT = 1000;

/** The pages for the operator: health, readiness and metrics. */
export class AdminPages {
  readonly #check: () => Promise<void>;
  readonly #metrics: { readonly contentType: string; metrics(): Promise<string> };
  #checking: Promise<void> | undefined;
  #stopping = false;

  /** `check` rejects with the reason why the service cannot work; `metrics` may add up several workers. */
  constructor(check: () => Promise<void>, metrics: { readonly contentType: string; metrics(): Promise<string> }) {
    this.#check = check;
    this.#metrics = metrics;
  }

  stop(): void {
    this.#stopping = true;
  }

  /** Resolves to the reason why the service is not ready, or to undefined if it is. Callers at the same time share one check. */
  async problem(): Promise<string | undefined> {
    if (this.#stopping) return 'stopping';
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
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

  /** Returns `/healthz`, which tells that the process answers, and `/readyz`, which tells whether it can do its work. */
  health(): ServerOptions['pages'] {
    const alive = page((_request, response) => {
      response.replyText(200, 'alive');
    });
    const ready = page(async (_request, response) => {
      const problem = await this.problem();
      response.replyText(problem === undefined ? 200 : 503, problem ?? 'ready');
    });
    return new Map([
      ['/healthz', alive],
      ['/readyz', ready],
    ]);
  }

  /** Returns the pages of {@link health}, and `/metrics` (Prometheus) for callers whom `checkReader` does not refuse. */
  all(checkReader?: (request: HttpRequest) => void): ServerOptions['pages'] {
    const metrics = page(async (request, response) => {
      checkReader?.(request);
      response.reply(200, this.#metrics.contentType, await this.#metrics.metrics());
    });
    return new Map([...this.health(), ['/metrics', metrics]]);
  }

  /**
   * Starts a server for the operator alone, with `/`, which lists the pages. Throws as `HttpServer.listen`.
   *
   * @param check - throws why a request is refused.
   */
  async listen(
    address: NonNullable<Config['admin']>,
    options: Pick<ServerOptions, 'limits' | 'rate' | 'observer'>,
    check: (request: HttpRequest) => void,
  ) {
    const all = this.all();
    const index = page((_request, response) => {
      response.replyText(200, [...all.keys()].join('\n'));
    });
    const pages: ServerOptions['pages'] = new Map(
      [...all, ['/', index] as const].map(([path, answer]) => [
        path,
        async (request: HttpRequest, response: HttpResponse) => {
          check(request);
          await answer(request, response);
        },
      ]),
    );
    const server = new HttpServer({ pages, ...options });
    const port = await server.listen(address, 'ADMIN_').catch(async (error: unknown) => {
      await server.close();
      throw error;
    });
    return {
      url: `http://${Callers.localAuthority(address.host, port)}/`,
      close: (deadline?: number) => server.close(0, deadline),
    };
  }
}

const ALLOWED = 'GET, HEAD, OPTIONS';

function page(answer: (request: HttpRequest, response: HttpResponse) => void | Promise<void>) {
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    if (request.method === 'GET' || request.method === 'HEAD') await answer(request, response);
    else if (request.method === 'OPTIONS') response.replyWithoutBody(204, { Allow: ALLOWED });
    else throw HTTP_ERRORS.method('Use GET.', ALLOWED);
  };
}
