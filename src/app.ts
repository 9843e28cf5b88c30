import { loadContract } from './asmx/contract';
import { endpoint } from './asmx/endpoint';
import { wrappingBytes } from './asmx/wrapping';
import { endpointPath, type Config } from './config';
import type { EventLog } from './events/event-log';
import type { Registry } from 'prom-client';
import { accessControl, type AccessControl } from './http/access';
import { authority } from './http/authority';
import { healthPages, metricsPage, type AdminPages } from './http/admin';
import { bodyReader } from './http/body';
import { callersOf } from './http/caller';
import { InFlight } from './http/in-flight';
import { Metrics } from './http/metrics';
import { rateLimit } from './http/rate-limit';
import { Readiness } from './http/readiness';
import { HttpServer, noHandler } from './http/server';
import { Turns } from './turns';
import { readTls } from './http/tls';
import { createLogger, type Logger } from './logger';
import { observation } from './observation';
import { ACCESS, webhookService } from './service/webhook-service';

/** A service that answers. */
export interface App {
  /** Absolute address of the endpoint on this machine. */
  readonly url: string;
  /** Absolute address of the health and metrics pages where they have one of their own. */
  readonly adminUrl: string | undefined;
  readonly metrics: Registry;
  /**
   * Reads the TLS files again; connections from now on use them.
   *
   * @throws they cannot be used; then those from before stay in use.
   */
  reloadTls(): Promise<void>;
  /** Finishes what is in flight; takes nothing new. The event log stays open. */
  close(): Promise<void>;
  /** As {@link close}, where another process takes over the port: callers get time to come back to that one. */
  handOver(): Promise<void>;
}

/** Puts the service together on an event log and starts to listen. Without a logger nothing is logged. */
export async function startApp(config: Config, log: EventLog, logger: Logger = createLogger('silent')): Promise<App> {
  const { limits } = config;
  const path = endpointPath(config);
  const contract = await loadContract(config.namespace);
  const service = webhookService(log, {
    defaults: { source: path, type: config.eventType },
    limit: config.getEventsLimit,
    maxResultBytes: config.getEventsMaxBytes - wrappingBytes(config.namespace),
  });
  const callers = callersOf(config);
  const addressOf = callers.address.bind(callers);
  const readiness = new Readiness(() => log.check());
  const inFlight = new InFlight(limits.maxInFlight);
  const metrics: Metrics = new Metrics({
    inFlight: () => inFlight.calls,
    connections: () => server.connections,
    isReady: async () => (await readiness.problem()) === undefined,
    events: () => log.count(),
    bytes: () => log.bytes(),
  });
  log.onCommit((commit) => {
    metrics.commit(commit);
  });
  const observer = observation(metrics, logger, config.log.access, addressOf);
  const access = accessControl(config.access);
  const handler = await endpoint(contract, service, {
    path,
    callers,
    readBody: bodyReader(config.maxRequestBytes, limits.maxBodyMemory),
    inFlight,
    turns: new Turns(),
    rate: limits.rate && rateLimit(limits.rate, addressOf),
    access: access && {
      needsBody: (request) => access.needsBody(request),
      check: (operation, request, proof) => {
        access.check(ACCESS[operation] ?? 'record', request, proof);
      },
    },
    report: (request, report) => {
      observer.call(request, report);
    },
  });

  const health = healthPages(readiness);
  const metricsFor = (who: AccessControl | undefined): AdminPages =>
    new Map([
      ...health,
      ...metricsPage(metrics.registry, (request) => {
        who?.check('read', request, {});
      }),
    ]);
  const tls = config.tls && (await readTls(config.tls));
  // Of several workers, the supervisor has the metrics together, and the operator's address with them.
  const alone = config.workers === 1;
  // On the public address the metrics are for those who may read events; on one of their own for who reaches it.
  const server: HttpServer = new HttpServer(handler, {
    pages: alone && config.admin === undefined ? metricsFor(access) : health,
    limits,
    observer,
    tls,
  });
  const admin =
    alone && config.admin ? new HttpServer(noHandler, { pages: metricsFor(undefined), limits, observer }) : undefined;
  const port = await server.listen(config.port, config.host);
  const adminPort = await admin?.listen(config.admin?.port ?? 0, config.admin?.host ?? '');
  const finish = async (end: () => Promise<void>): Promise<void> => {
    readiness.stop();
    await end();
    await admin?.close();
  };
  return {
    url: `${tls ? 'https' : 'http'}://${authority(config.host, port)}${path}`,
    adminUrl: adminPort === undefined ? undefined : `http://${authority(config.admin?.host ?? '', adminPort)}/`,
    metrics: metrics.registry,
    async reloadTls() {
      if (config.tls) server.replaceTls(await readTls(config.tls));
    },
    close: () => finish(() => server.close()),
    handOver: () => finish(() => server.handOver()),
  };
}
