import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app';
import { readConfig } from '../../src/config';
import type { EventLog } from '../../src/events/event-log';
import { SqliteEventLog } from '../../src/events/sqlite-event-log';

export interface TestService {
  /** Absolute address of the endpoint. */
  readonly url: string;
  /** Absolute address of the admin pages, where they have one of their own. */
  readonly adminUrl: string | undefined;
  readonly log: EventLog;
  stop(): Promise<void>;
}

const running = new Set<TestService>();

/** Stops what a test that failed left running. */
export async function stopServices(): Promise<void> {
  await Promise.all([...running].map((service) => service.stop()));
}

/** Makes an empty folder that `remove` takes away again. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'webhook-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Gives each test of the surrounding `describe` an empty folder of its own. */
export function useTemporaryFolder(): { readonly path: string } {
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder?.remove());
  return {
    get path() {
      if (folder === undefined) throw new Error('there is a folder only while a test runs');
      return folder.path;
    },
  };
}

/** Starts the service in this process, on a free port and, unless one is given, on an empty event log. */
export async function startService(
  variables: Readonly<Record<string, string>> = {},
  givenLog?: EventLog,
): Promise<TestService> {
  const folder = await temporaryFolder();
  const log = givenLog ?? (await SqliteEventLog.open({ file: join(folder.path, 'events.db') }));
  const app = await startApp(readConfig({ PORT: '0', ...variables }), log);
  const service: TestService = {
    url: app.url,
    adminUrl: app.adminUrl,
    log,
    async stop() {
      running.delete(service);
      await app.close();
      await log.close();
      await folder.remove();
    },
  };
  running.add(service);
  return service;
}
