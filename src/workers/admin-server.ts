import type { Config } from '../config/config';
import { healthPages, metricsPage, Readiness, withIndex } from '../http/admin';
import { localAuthority } from '../http/callers';
import { noHandler } from '../http/reception';
import type { ServerObserver } from '../http/reception';
import { HttpServer } from '../http/server';
import { LimitedLines, type Logger } from '../telemetry/logger';
import { requestFields } from '../telemetry/observation';
import type { Reports } from './reports';

/**
 * Starts the supervisor's admin server: the health and the metrics of all workers on the admin address. Resolves to that
 * address, if one is configured.
 *
 * @throws the address is in use, or is not one of this machine.
 */
export async function startAdminServer(
  config: Config,
  workers: { readonly isReady: boolean },
  reports: Reports,
  logger: Logger,
): Promise<string | undefined> {
  const { admin, limits } = config;
  if (admin === undefined) return undefined;
  const readiness = new Readiness(async () => {
    if (!workers.isReady) throw new Error('No worker is ready.');
    await reports.check();
  });
  const pages = withIndex(new Map([...healthPages(readiness), ...metricsPage(reports, () => undefined)]));
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
