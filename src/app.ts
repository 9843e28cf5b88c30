import { Contract } from './contract/contract';
import { Protocols } from './contract/protocols';
import { endpointHandler } from './endpoint';
import { Admission } from './call/admission';
import { ReaderThread } from './call/reader-thread';
import { CallError } from './service/call';
import { CloudEventError } from './events/cloudevents/attributes';
import { RequestError } from './http/errors';
import { Fault } from './soap/fault';
import type { Config } from './config/config';
import type { EventLog } from './log/event-log';
import { Callers } from './http/callers';
import { RateLimit } from './http/rate-limit';
import { AdminPages } from './http/admin';
import { AccessControl } from './access/access-control';
import { BodyReader } from './http/content/body';
import { MediaType } from './http/content/media-type';
import { startServers } from './http/servers';
import { webhookService } from './service/webhook-service';
import { createLogger, type Logger } from './telemetry/logger';
import { Metrics } from './telemetry/metrics';
import { Observer } from './telemetry/observer';
import type { Refusals } from './telemetry/refused-calls';
import { memoized } from './util/text';

export type App = Awaited<ReturnType<typeof startApp>>;

function eventSizeWarning({ maxRequestBytes }: Config, { maxEventBytes = Infinity }: EventLog): string | undefined {
  // Bytes that are not text are kept as base64.
  const needed = Math.ceil((maxRequestBytes * 4) / 3);
  if (maxEventBytes >= needed) return undefined;
  return (
    `NATS takes events of at most ${String(maxEventBytes)} bytes (max_payload), and requests may have ${String(maxRequestBytes)} ` +
    `(MAX_REQUEST_BYTES): larger events are refused. Set max_payload to ${String(needed)} or more, or lower MAX_REQUEST_BYTES.`
  );
}

/** Starts the service on an event log. `refusalsOfAll` collects the refusals of all its processes; without it this one answers alone. */
export async function startApp(
  config: Config,
  log: EventLog,
  logger: Logger = createLogger('silent'),
  refusalsOfAll = (own: () => Refusals): Promise<Refusals> => Promise.resolve(own()),
) {
  const { limits, protocols: bindings, documentation } = config;
  const contract = await Contract.load(config.namespace, new Protocols(bindings, documentation));
  const admission = new Admission(limits);
  const metrics: Metrics = new Metrics({
    inFlight: () => admission.inFlight,
    waiting: () => admission.waits.size,
    connections: () => servers.connections(),
    isReady: async () => (await pages.problem()) === undefined,
    events: async () => (await log.stats()).events,
    bytes: async () => (await log.stats()).bytes,
  });
  const pages = new AdminPages(() => log.check(), metrics.registry);
  const sizeWarning = eventSizeWarning(config, log);
  if (sizeWarning !== undefined) logger.warn(sizeWarning);
  const observer: Observer = new Observer(logger, metrics, (request) => callers.address(request), config.log.access);
  const callers = new Callers(config, observer.hint);
  log.observe(observer);
  const access = new AccessControl(config, callers);
  const maxResultBytes = config.getEventsMaxBytes - contract.maxBytesAroundResult;
  const service = webhookService(log, config, maxResultBytes);
  const rate = new RateLimit(limits.rate, callers);
  const handler = await endpointHandler({
    config,
    path: config.path,
    contract,
    service,
    log,
    callers,
    rate,
    access,
    admission,
    bodies: new BodyReader(config.maxRequestBytes, limits.maxBodyMemory),
    reader: new ReaderThread(config.maxRequestBytes, [RequestError, Fault, CloudEventError, CallError]),
    mediaType: memoized(MediaType.parse),
    observer,
    refusals: () => refusalsOfAll(observer.refusals),
  });

  const servers = await startServers(config, { handler, rate, observer }, pages, (request) => {
    // Before the key is looked at: a caller over the limit must not learn whether it is right.
    if (access.credentials.read.length > 0) rate.count(request);
    access.checkReader(request);
  });
  return {
    url: servers.url + config.path,
    /** Absolute address of the health and metrics pages, if they have an address of their own. */
    adminUrl: servers.adminUrl,
    metrics: metrics.registry,
    refusals: observer.refusals,
    /** Reads the TLS files again, and uses other keys, secrets and hosts. Changes nothing if it throws: the files cannot be used. */
    async reload({ access: credentials, allowedHosts }: Pick<Config, 'access' | 'allowedHosts'>): Promise<void> {
      await servers.reloadTls();
      access.use({ ...config, access: credentials, allowedHosts });
    },
    /** Finishes what is in flight; connections without a call stay open for `idleTimeout` ms. The event log stays open. */
    close(idleTimeout?: number): Promise<void> {
      pages.stop();
      admission.endWaits();
      return servers.close(idleTimeout);
    },
  };
}
