import { join } from 'node:path';
import { rename } from 'node:fs/promises';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { callOperation } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { everyEvent, Load, verdict, WHOLE } from '../../support/load';
import { metricsAt } from '../../support/metrics';
import { childrenOf, killProcesses, logLines, startProcess, type ServiceProcess } from '../../support/process';
import { directly } from '../../support/sqlite';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('with several workers, what they record', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  const start = (variables: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> =>
    startProcess({ WORKERS: '2', ...variables }, folder.path);

  it('is in the log once after their supervisor was killed, and none of them lives on', async () => {
    const service = await start();
    const workers = await childrenOf(service);
    const load = new Load(() => service.url, { callers: 50 });
    await load.goesOn(500);
    await service.end('SIGKILL');
    await load.stop();
    await eventually('the workers have ended', () => !workers.some(isRunning));

    const again = await start();
    expect(verdict(load, await everyEvent(again.url))).toEqual(WHOLE);
    expect(await again.end('SIGTERM')).toBe(0);
  });

  it('is kept while retention fails, which each worker says and counts, until it works again', async () => {
    const service = await start({ RETENTION_MAX_EVENTS: '5', ADMIN_PORT: '0' });
    const admin = String((await service.logged('supervising')).adminUrl);
    const file = join(folder.path, 'data', 'events.db');
    const failures = async () => (await metricsAt(admin)).get('webhook_retention_failures_total') ?? NaN;
    expect(await failures()).toBe(0);
    directly(file, "CREATE TRIGGER keep BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'it is kept'); END");
    for (let i = 0; i < 7; i++) await callOperation(service.url, 'httpget', 'RecordEvent');
    await eventually('it has failed twice', async () => (await failures()) >= 2);
    expect(await everyEvent(service.url)).toHaveLength(7);
    directly(file, 'DROP TRIGGER keep');
    await service.logged('retention works again');
    await eventually('the oldest are gone', async () => (await everyEvent(service.url)).length === 5);
    const lines = logLines(service.output()).filter(({ msg }) => msg === 'retention fails, no events are forgotten');
    expect(lines.length).toBeGreaterThan(0);
    expect(lines[0]).toMatchObject({ level: 'error', reason: 'it is kept' });
    expect(new Set(lines.map(({ pid }) => pid)).size).toBe(lines.length);
  });

  it('is forgotten after SIGHUP although no further call records', async () => {
    const service = await start({ RETENTION_MAX_AGE: '1h' });
    await callOperation(service.url, 'httpget', 'RecordEvent');
    service.child.kill('SIGHUP');
    await eventually('the old workers have stopped', () => service.output().match(/"stopped"/g)?.length === 2);
    const log = await openSqliteLog({ file: join(folder.path, 'data/events.db') });
    await log.append(newEvent({ recordedAt: Date.now() - 7_200_000 }));
    await eventually('the old event is gone', async () => (await log.stats()).events === 1);
    await log.close();
  });

  it('cannot be recorded while the log is gone, which /readyz says on the public port and on ADMIN_PORT', async () => {
    const log = join(folder.path, 'log');
    const service = await start({ EVENT_LOG: `sqlite:${join(log, 'events.db')}`, ADMIN_PORT: '0' });
    const admin = String((await service.logged('supervising')).adminUrl);
    const statuses = async () =>
      Promise.all([service.url, admin].map(async (url) => (await send(new URL('/readyz', url).href)).status));
    expect(await statuses()).toEqual([200, 200]);
    await rename(log, `${log}.away`);
    await expect(callOperation(service.url, 'soap11', 'RecordEvent')).rejects.toThrow();
    expect(await statuses()).toEqual([503, 503]);
    await rename(`${log}.away`, log);
    await eventually('it can record again', async () => (await statuses()).every((status) => status === 200));
    await callOperation(service.url, 'soap11', 'RecordEvent');
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
