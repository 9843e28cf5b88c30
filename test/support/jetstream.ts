import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { EventLogError } from '../../src/log/engine';
import type { EventLog } from '../../src/log/event-log';
import { openJetStreamLog, type JetStreamOptions } from '../../src/log/jetstream/event-log';
import { startNats, type NatsServer } from './nats';
import { useSharedFolder } from './temporary-folder';

/**
 * Starts a nats-server before the tests of the block that calls it, with lines in its configuration, and opens logs on it, which are closed
 * after each test.
 */
export function useJetStream(configuration = '', login?: { readonly user: string; readonly password: string }) {
  const folder = useSharedFolder();
  let server: NatsServer;
  const logs: EventLog[] = [];
  beforeAll(async () => {
    server = await startNats(folder.path, -1, configuration);
  });
  afterEach(() => Promise.all(logs.splice(0).map((log) => log.close())));
  afterAll(() => server.end('SIGTERM'));
  return {
    /** Options for a log on a stream of its own. */
    options: (given: Partial<JetStreamOptions> = {}): JetStreamOptions => ({
      servers: [`127.0.0.1:${String(server.port)}`],
      tls: false,
      login,
      // No other server that gets the port of a killed one has a stream of this name.
      stream: `S${randomUUID()}`,
      replicas: 1,
      timeout: 20_000,
      retention: { maxEvents: undefined, maxAge: undefined },
      create: true,
      ...given,
    }),
    opened: async (options: JetStreamOptions): Promise<EventLog> => {
      const log = await openJetStreamLog(options);
      logs.push(log);
      return log;
    },
    /** Does something with the streams past the service. */
    directly: async <T>(action: (manager: JetStreamManager) => Promise<T>): Promise<T> => {
      const connection = await connect({ port: server.port, ...(login && { user: login.user, pass: login.password }) });
      return action(await jetstreamManager(connection)).finally(() => connection.close());
    },
    port: () => server.port,
    /** Kills the server and starts it again with what it stored, which may be changed meanwhile. */
    restart: async (change?: (store: string) => Promise<void>) => {
      await server.end('SIGKILL');
      await change?.(join(folder.path, 'jetstream', 'jetstream', '$G', 'streams'));
      server = await startNats(folder.path, server.port, configuration);
    },
  };
}

/** The messages of an error of the log and of its cause. */
export async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (rejected: unknown) => rejected,
  );
  expect(error).toBeInstanceOf(EventLogError);
  const { message, cause } = error as EventLogError;
  return `${message} ---> ${(cause as Error).message}`;
}
