import { loadContract } from './asmx/contract';
import { endpoint } from './asmx/endpoint';
import { wrappingBytes } from './asmx/wrapping';
import { endpointPath, type Config } from './config';
import type { EventLog } from './events/event-log';
import { bodyReader } from './http/body';
import { callersOf } from './http/caller';
import { HttpServer } from './http/server';
import { webhookService } from './service/webhook-service';

/** A service that answers. */
export interface App {
  /** Absolute address of the endpoint on this machine. */
  readonly url: string;
  /** Finishes what is in flight; takes nothing new. The event log stays open. */
  close(): Promise<void>;
}

/** Puts the service together on an event log and starts to listen. */
export async function startApp(config: Config, log: EventLog): Promise<App> {
  const path = endpointPath(config);
  const contract = await loadContract(config.namespace);
  const service = webhookService(log, {
    defaults: { source: path, type: config.eventType },
    limit: config.getEventsLimit,
    maxResultBytes: config.getEventsMaxBytes - wrappingBytes(config.namespace),
  });
  const handler = await endpoint(contract, service, {
    path,
    readBody: bodyReader(config.maxRequestBytes),
    callers: callersOf(config),
  });
  const server = new HttpServer(handler, () => log.check());
  const port = await server.listen(config.port, config.host);
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return { url: `http://${host}:${String(port)}${path}`, close: () => server.close() };
}
