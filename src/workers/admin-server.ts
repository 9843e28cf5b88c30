import type { Config } from '../config/config';
import { healthPages, metricsPage, withIndex, type MetricsSource } from '../http/admin';
import { localAuthority } from '../http/callers';
import { Readiness } from '../http/admin';
import { noHandler } from '../http/reception';
import type { ServerObserver } from '../http/reception';
import { HttpServer } from '../http/server';
import { LimitedLines, type Logger } from '../telemetry/logger';
import { requestFields } from '../telemetry/observation';

/**
 * Starts the supervisor's admin server: the health and the metrics of all workers on the admin address. Resolves to that
 * address; undefined: none is configured.
 *
 * @throws the address is in use, or is not one of this machine.
 */
export async function startAdminServer(
  config: Config,
  workers: { readonly isReady: boolean },
  metrics: MetricsSource,
  logger: Logger,
): Promise<string | undefined> {
  const { admin, limits } = config;
  if (admin === undefined) return undefined;
  const readiness = new Readiness(() =>
    workers.isReady ? Promise.resolve() : Promise.reject(new Error('No worker is ready.')),
  );
  const pages = withIndex(new Map([...healthPages(readiness), ...metricsPage(metrics, () => undefined)]));
  const lines = new LimitedLines((fields, message) => {
    logger.warn(fields, message);
  });
  const refused: ServerObserver['refused'] = ({ refusal, reason, remoteAddress, request }) => {
    const fields = request === undefined ? { remoteAddress } : requestFields(request, () => remoteAddress);
    lines.write({ ...fields, refusal, reason }, 'refused');
  };
  const server = new HttpServer(noHandler, { pages, limits, observer: { refused } });
  const port = await server.listen(admin);
  return `http://${localAuthority(admin.host, port)}/`;
}
