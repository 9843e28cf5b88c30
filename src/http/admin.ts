import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readiness } from './readiness';
import { reply, replyText } from './reply';
import { RequestError } from './request-error';

/** Pages for who runs the service, by their path. */
export type AdminPages = ReadonlyMap<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>>;

/** The longest path of an admin page: whatever is longer need not be looked up. */
export const LONGEST_ADMIN_PATH = '/healthz'.length;

/** `/healthz`: the process answers. `/readyz`: it can do its work. */
export function healthPages(readiness: Readiness): AdminPages {
  return new Map([
    [
      '/healthz',
      page((_request, response) => {
        replyText(response, 200, 'alive');
      }),
    ],
    [
      '/readyz',
      page(async (_request, response) => {
        const problem = await readiness.problem();
        replyText(response, problem === undefined ? 200 : 503, problem ?? 'ready');
      }),
    ],
  ]);
}

/** What has metrics: a registry, or several workers' together. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** `/metrics` in the text format of Prometheus. `check` throws a {@link RequestError} for who may not read them. */
export function metricsPage(source: MetricsSource, check: (request: IncomingMessage) => void): AdminPages {
  return new Map([
    [
      '/metrics',
      page(async (request, response) => {
        check(request);
        reply(response, 200, source.contentType, await source.metrics());
      }),
    ],
  ]);
}

function page(answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      if (request.method === 'GET' || request.method === 'HEAD') await answer(request, response);
      else replyText(response, 405, 'Use GET.', { Allow: 'GET, HEAD' });
    } catch (error) {
      if (error instanceof RequestError) replyText(response, error.status, error.message, error.headers);
      else replyText(response, 500, 'The page could not be made.');
    }
  };
}
