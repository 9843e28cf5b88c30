import { plainReason } from '../util/text';
import { within } from '../util/promises';
import { HTTP_ERRORS } from './errors';
import type { HttpRequest } from './request';
import type { HttpResponse } from './response';

/** Pages for the operator, by their path. Each rejects with why its request is refused or has failed. */
export type AdminPages = ReadonlyMap<string, (request: HttpRequest, response: HttpResponse) => Promise<void>>;

/** Where metrics come from: one registry, or those of several workers added up. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/**
 * Makes `/healthz`, which tells that the process answers, `/readyz`, which tells whether it can do its work, and with metrics
 * `/metrics`, in the text format of Prometheus.
 *
 * @param checkReader - throws a {@link RequestError} where the caller may not read the metrics
 */
export function adminPages(
  readiness: Readiness,
  metrics?: MetricsSource,
  checkReader?: (request: HttpRequest) => void,
): AdminPages {
  const pages = new Map([
    [
      '/healthz',
      page((_request, response) => {
        response.replyText(200, 'alive');
      }),
    ],
    [
      '/readyz',
      page(async (_request, response) => {
        const problem = await readiness.problem();
        response.replyText(problem === undefined ? 200 : 503, problem ?? 'ready');
      }),
    ],
  ]);
  if (metrics === undefined) return pages;
  const metricsPage = page(async (request, response) => {
    checkReader?.(request);
    response.reply(200, metrics.contentType, await metrics.metrics());
  });
  return pages.set('/metrics', metricsPage);
}

/** Adds `/`, which lists the pages, for an address that has nothing else. */
export function withIndex(pages: AdminPages): AdminPages {
  const index = page((_request, response) => {
    response.replyText(200, [...pages.keys()].join('\n'));
  });
  return new Map([['/', index], ...pages]);
}

const ALLOWED = 'GET, HEAD, OPTIONS';

function page(answer: (request: HttpRequest, response: HttpResponse) => void | Promise<void>) {
  return async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    if (request.method === 'GET' || request.method === 'HEAD') await answer(request, response);
    else if (request.method === 'OPTIONS') response.replyWithoutBody(204, { Allow: ALLOWED });
    else throw HTTP_ERRORS.method('Use GET.', ALLOWED);
  };
}

/** A check that takes longer than this, in milliseconds, counts as failed. */
const CHECK_TIMEOUT = 1000;

/** Tells whether the service can do its work now, by a check that rejects with the reason when it cannot. */
export class Readiness {
  readonly #check: () => Promise<void>;
  #checking: Promise<void> | undefined;
  #stopping = false;

  constructor(check: () => Promise<void>) {
    this.#check = check;
  }

  /** Not ready afterwards: the service is stopping. */
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
}
