import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { callOperation } from '../../support/bindings';
import { eventually } from '../../support/eventually';
import { everyEvent, Load, verdict, WHOLE } from '../../support/load';
import { childrenOf, killProcesses, startProcess, type ServiceProcess } from '../../support/process';
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
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
