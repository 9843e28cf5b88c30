import { Router } from 'express';
import { Contract } from './contract/contract';
import { Admission } from './call/admission';
import type { Endpoint } from './call/incoming-call';
import { ReaderThreads } from './call/reader-thread';
import { CallError } from './service/call';
import { CloudEventError } from './events/cloudevents/attributes';
import { RequestError } from './http/errors';
import { routeOperations } from './get-post/http-call';
import { eventsPages } from './pages/events/events-pages';
import { documents } from './pages/service/documents';
import { Fault } from './soap/fault';
import { SoapCall } from './soap/soap-call';
import type { Config } from './config/config';
import type { EventLog } from './log/event-log';
import { Proxies } from './http/proxies';
import { RateLimit } from './http/rate-limit';
import { AdminPages } from './http/admin';
import type { HttpRequest } from './http/request';
import type { HttpResponse } from './http/response';
import { AccessControl } from './access/access-control';
import { Caller } from './access/caller';
import { BodyReader } from './http/content/body';
import { MediaType } from './http/content/media-type';
import { startServers } from './http/servers';
import { webhookService } from './service/webhook-service';
import { createLogger, type Logger } from './telemetry/logger';
import { Metrics } from './telemetry/metrics';
import { createObserver } from './telemetry/observer';
import type { Refusals } from './telemetry/refused-calls';
import { Secrets } from './util/secrets';
import { memoized } from './util/text';

/** The supervisor, which reports for all processes. */
interface AllProcesses {
  /** @param own - returns the refusals of this process alone. */
  refusals(own: () => Refusals): Promise<Refusals>;
  /** The log's files are lost; without a problem, they are back. */
  lostFiles(this: void, problem: string | undefined): void;
}

/** Starts the service on an event log. */
export async function startApp(
  config: Config,
  log: EventLog,
  logger = createLogger('silent'),
  supervisor?: AllProcesses,
) {
  const contract = await Contract.load(config.namespace, config);
  const admission = new Admission(config.limits);
  // These and `proxies` use what is made below them, but only once all of it is there.
  const metrics: Metrics = new Metrics({
    inFlight: () => admission.inFlight,
    waiting: () => admission.waits.size,
    connections: () => servers.connections(),
    isReady: async () => (await adminPages.problem()) === undefined,
    events: async () => (await log.stats()).events,
    bytes: async () => (await log.stats()).bytes,
  });
  const adminPages = new AdminPages(() => log.check(), metrics.registry);
  warnOfEventLimit(config, log, logger);
  const secrets = new Secrets(AccessControl.secretsIn(config));
  const proxies: Proxies = new Proxies(config, (key, message) => observer.hint(key, message));
  const observer = createObserver(logger, metrics, (request) => proxies.address(request), config.log.access, secrets);
  log.observe({ ...observer, lost: supervisor?.lostFiles ?? observer.lost });
  // Clears a loss that an earlier worker reported.
  supervisor?.lostFiles(undefined);
  const access = new AccessControl(config, proxies);
  const maxResultBytes = config.getEventsMaxBytes - contract.maxBytesAroundResult;
  const service = webhookService(log, config, maxResultBytes, secrets);
  const rate = new RateLimit(config.limits.rate, proxies);
  const handler = await endpointHandler({
    config,
    path: config.path,
    contract,
    operations: contract.operationsOf(service),
    log,
    proxies,
    rate,
    access,
    admission,
    bodies: new BodyReader(config),
    readerThreads: new ReaderThreads(config.maxRequestBytes, [RequestError, Fault, CloudEventError, CallError]),
    mediaType: memoized(MediaType.parse),
    observer,
    refusals: () => Promise.resolve(supervisor?.refusals(observer.refusals) ?? observer.refusals()),
  });

  const servers = await startServers(config, { handler, rate, observer }, adminPages, {
    metricsReader: (request) => Caller.checkMetricsReader(request, access, rate),
    operator: access.checkOperator,
  });
  return {
    url: servers.url + config.path,
    /** Absolute address of the health and metrics pages, if they have an address of their own. */
    adminUrl: servers.adminUrl,
    metrics: metrics.registry,
    refusals: observer.refusals,
    /** Reads the TLS files again, and uses other keys, secrets and hosts. Changes nothing if it throws: the files cannot be used. */
    async reload(next: Pick<Config, 'access' | 'allowedHosts' | 'forwardSecrets' | 'tls'>): Promise<void> {
      await servers.reloadTls(next.tls);
      access.use({ ...config, access: next.access, allowedHosts: next.allowedHosts });
      secrets.use(AccessControl.secretsIn({ ...next, eventLogServer: config.eventLogServer }));
    },
    /** Finishes what is in flight; connections without a call stay open for `idleTimeout` ms. The event log stays open. */
    close(idleTimeout?: number): Promise<void> {
      adminPages.stop();
      admission.endWaits();
      return servers.close(idleTimeout);
    },
  };
}

type Handler = (request: HttpRequest, response: HttpResponse, next: (error?: unknown) => void) => void;

/** Returns the handler of the endpoint: bindings and documents on one path, which is case-insensitive, as in IIS. */
async function endpointHandler(endpoint: Endpoint): Promise<Handler> {
  const soap = await SoapCall.shared(endpoint);
  const router = Router({ strict: true });
  routeOperations(router, endpoint);
  router.use(eventsPages(endpoint));
  router.use(documents(endpoint, soap));
  const withoutSoap = router as unknown as Handler;
  const path = endpoint.path.toLowerCase();
  const isEndpoint = (given: string): boolean => given === endpoint.path || given.toLowerCase() === path;
  return (request, response, next) => {
    if (soap !== undefined && request.method === 'POST' && isEndpoint(request.path)) {
      new SoapCall(request, response, endpoint, soap).answer().catch(next);
      return;
    }
    withoutSoap(request, response, next);
  };
}

/** Warns if the log refuses events of a size that requests may have. */
function warnOfEventLimit({ maxRequestBytes }: Config, { maxEventBytes = Infinity }: EventLog, logger: Logger): void {
  // Bytes that are not text are kept as base64.
  const needed = Math.ceil((maxRequestBytes * 4) / 3);
  if (maxEventBytes >= needed) return;
  logger.warn(
    `The event log takes events of at most ${String(maxEventBytes)} bytes (NATS: max_payload), and requests may have ` +
      `${String(maxRequestBytes)} (MAX_REQUEST_BYTES): larger events are refused. Set max_payload to ${String(needed)} or more, or ` +
      'lower MAX_REQUEST_BYTES.',
  );
}
