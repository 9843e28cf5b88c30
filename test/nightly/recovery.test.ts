import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callOperation } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { readEveryEvent, Load, verdict, WHOLE } from '../support/load';
import { startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runToolHere } from '../support/tool-here';
import { describeUnless, missingMount, whileMounted } from '../support/tools';

describeUnless(missingMount, 'the service on a disk that gets full', () => {
  const folder = useTemporaryFolder();

  it.each([{}, { WORKERS: '2' }])(
    'with %j refuses what it cannot keep and goes on when there is room again',
    async (workers) => {
      const disk = join(folder.path, 'disk');
      await whileMounted('-t tmpfs -o size=8m tmpfs', disk, async () => {
        await writeFile(join(disk, 'others'), Buffer.alloc(6 * 1024 * 1024));
        const service = await startProcess({ EVENT_LOG: 'sqlite:disk/events.db', ...workers }, folder.path);
        const calls = new Load(() => service.url, { size: () => 2000, copies: () => 0 });
        const ready = () => send(new URL('/readyz', service.url).href);
        await eventually('a call fails', () => calls.failed > 0);
        await eventually('the service is not ready, and says why', async () => {
          const { status, body } = await ready();
          return status === 503 && /database or disk is full|disk I\/O error/.test(body);
        });
        await rm(join(disk, 'others'));
        await calls.goesOn();
        await eventually('the service is ready', async () => (await ready()).status === 200);
        await calls.stop();
        expect(verdict(calls, await readEveryEvent(service.url))).toEqual(WHOLE);
        for (const fault of calls.faults) {
          expect(fault).toMatch(/^503: [\s\S]*The event could not be recorded/);
          expect(fault).not.toMatch(/\/tmp|node_modules|\n\s+at /);
        }
        expect(await service.end('SIGTERM')).toBe(0);
      });
    },
  );
});

describeUnless(missingMount, 'the tool on a read-only file system', () => {
  const folder = useTemporaryFolder();

  it.each(['stopped', 'killed', 'running'])('reads, verifies and copies the log of a %s service', async (state) => {
    const service = await startProcess({}, folder.path);
    const id = await callOperation(service.url, 'httppost', 'RecordEvent', 'x');
    if (state !== 'running') await service.end(state === 'stopped' ? 'SIGTERM' : 'SIGKILL');
    const disk = join(folder.path, 'disk');
    await whileMounted(`--bind ${join(folder.path, 'data')}`, disk, async () => {
      execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
      const run = (...args: string[]) => runToolHere(args, { EVENT_LOG: 'sqlite:disk/events.db' }, folder.path);
      expect(await run('print', '--json')).toMatchObject({ code: 0, output: expect.stringContaining(id) as string });
      expect((await run('verify')).errors).toBe('1 event verified. The log is whole.\n');
      expect(await run('backup', join(folder.path, 'copy.db'))).toMatchObject({ code: 0 });
      expect(await run('forget', id)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('attempt to write a readonly database') as string,
      });
    });
  });
});
