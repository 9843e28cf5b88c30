import { startApp } from '../../src/app';
import { readConfig } from '../../src/config/config';
import type { EventLog } from '../../src/log/event-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { keepConnections } from './http';

export interface TestService {
  /** Absolute address of the endpoint. */
  readonly url: string;
  /** Absolute address of the admin pages, if they have one of their own. */
  readonly adminUrl: string | undefined;
  readonly log: EventLog;
  readonly app: Awaited<ReturnType<typeof startApp>>;
  stop(): Promise<void>;
}

/** The services that were started and not stopped. */
export const runningServices = new Set<TestService>();

afterAll(async () => {
  await Promise.all([...runningServices].map((service) => service.stop()));
});

/** Starts a service before the first test of a file or a `describe`. */
export function useService(variables: Readonly<Record<string, string>> = {}, log?: EventLog): TestService {
  const service = {} as TestService;
  beforeAll(async () => {
    Object.assign(service, await startService(variables, log));
  });
  return service;
}

/** Starts the service in this process, on a free port and, unless a log is given, on an empty one in memory. It stops after the tests. */
export async function startService(
  variables: Readonly<Record<string, string>> = {},
  givenLog?: EventLog,
): Promise<TestService> {
  const config = readConfig({ PORT: '0', ...variables });
  const log = givenLog ?? openMemoryLog();
  const app = await startApp(config, log).catch(async (error: unknown) => {
    if (givenLog === undefined) await log.close();
    throw error;
  });
  for (const url of [app.url, app.adminUrl ?? app.url]) keepConnections(url);
  const service: TestService = {
    url: app.url,
    adminUrl: app.adminUrl,
    log,
    app,
    async stop() {
      runningServices.delete(service);
      await app.close();
      await log.close();
    },
  };
  runningServices.add(service);
  return service;
}
