import { AggregatorRegistry } from 'prom-client';
import type { Config } from './config';
import { healthPages, metricsPage } from './http/admin';
import { authority } from './http/authority';
import { Readiness } from './http/readiness';
import type { Refusal } from './http/request-error';
import { HttpServer, noHandler } from './http/server';
import { LimitedLines, type Logger } from './logger';
import type { Workers } from './workers';

/**
 * Serves the health of several workers and their metrics, added up, on the address for the operator. Resolves to that
 * address; undefined: none is configured.
 *
 * @throws the address is in use, or not one of this machine.
 */
export async function startSupervisorPages(
  config: Config,
  workers: Workers,
  logger: Logger,
): Promise<string | undefined> {
  const { admin, limits } = config;
  if (admin === undefined) return undefined;
  const readiness = new Readiness(() =>
    workers.answer ? Promise.resolve() : Promise.reject(new Error('No worker answers.')),
  );
  const aggregate = new AggregatorRegistry();
  const registry = { contentType: aggregate.contentType, metrics: () => aggregate.clusterMetrics() };
  const pages = new Map([...healthPages(readiness), ...metricsPage(registry, () => undefined)]);
  const lines = new LimitedLines((fields, message) => {
    logger.warn(fields, message);
  });
  const refused = (refusal: Refusal, reason: string, remoteAddress: string | undefined): void => {
    lines.write({ remoteAddress, refusal, reason }, 'refused');
  };
  const server = new HttpServer(noHandler, { pages, limits, observer: { refused } });
  const port = await server.listen(admin.port, admin.host);
  return `http://${authority(admin.host, port)}/`;
}
