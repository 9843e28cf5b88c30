import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BINDINGS, callOperation } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { everyEvent } from '../support/load';
import { startProcess, type ServiceProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runToolHere } from '../support/tool-here';
import { describeUnless, missingMount } from '../support/tools';
import { openDirectly } from '../support/sqlite';

const WORKERS = [{}, { WORKERS: '2' }];

/** Records events over all bindings, one after the other, until it is stopped; tells what was answered and what not. */
function recorder(url: string) {
  let stopped = false;
  const answered: string[] = [];
  const faults = new Set<string>();
  let lastAnswered = 0;
  const recording = (async () => {
    for (let i = 0; !stopped; i++) {
      try {
        answered.push(
          await callOperation(url, BINDINGS[i % BINDINGS.length] ?? 'soap11', 'RecordEvent', 'x'.repeat(2000)),
        );
        lastAnswered = Date.now();
      } catch (error) {
        faults.add((error as Error).message);
        await setTimeout(20);
      }
    }
  })();
  return {
    answered,
    faults,
    failed: () => eventually('a call fails', () => faults.size > 0),
    /** Waits until a call was answered that began after now. */
    async resumed() {
      const now = Date.now();
      await eventually('calls are answered again', () => lastAnswered > now);
    },
    async stop() {
      stopped = true;
      await recording;
    },
  };
}

const ready = async (service: ServiceProcess) => (await send(new URL('/readyz', service.url).href)).status;

async function expectKept(service: ServiceProcess, answered: readonly string[]): Promise<void> {
  const ids = (await everyEvent(service.url)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const known = new Set(ids);
  expect(answered.filter((id) => !known.has(id))).toEqual([]);
  expect(answered.length).toBeGreaterThan(0);
}

function expectFaults(faults: ReadonlySet<string>): void {
  for (const fault of faults) {
    expect(fault).toMatch(/^503: [\s\S]*The event could not be recorded/);
    expect(fault).not.toMatch(/\/tmp|node_modules|\n\s+at /);
  }
}

describe.each(WORKERS)('with %j the service goes on by itself, with all that was answered,', (workers) => {
  const folder = useTemporaryFolder();

  it('when another program let go of the database that it had locked for ten seconds', async () => {
    const service = await startProcess(workers, folder.path);
    const calls = recorder(service.url);
    await calls.resumed();
    const other = openDirectly(join(folder.path, 'data', 'events.db'));
    other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    const locked = Date.now();
    await eventually('the service is not ready', async () => (await ready(service)) === 503);
    await calls.failed();
    await setTimeout(10_000 - (Date.now() - locked));
    expect(await ready(service)).toBe(503);
    other.exec('ROLLBACK');
    other.close();
    await calls.resumed();
    expect(await ready(service)).toBe(200);
    await calls.stop();
    expectFaults(calls.faults);
    await expectKept(service, calls.answered);
    expect(await service.end('SIGTERM')).toBe(0);
  }, 60_000);
});

describeUnless(missingMount, 'the service on a disk that gets full', () => {
  const folder = useTemporaryFolder();

  it.each(WORKERS)('with %j refuses what it cannot keep and goes on when there is room again', async (workers) => {
    const disk = join(folder.path, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]);
    try {
      await writeFile(join(disk, 'others'), Buffer.alloc(6 * 1024 * 1024));
      const service = await startProcess({ EVENT_LOG: 'sqlite:disk/events.db', ...workers }, folder.path);
      const calls = recorder(service.url);
      await calls.failed();
      await eventually('the service is not ready, and says why', async () => {
        const { status, body } = await send(new URL('/readyz', service.url).href);
        return status === 503 && /database or disk is full|disk I\/O error/.test(body);
      });
      await rm(join(disk, 'others'));
      await calls.resumed();
      await eventually('the service is ready', async () => (await ready(service)) === 200);
      await calls.stop();
      expectFaults(calls.faults);
      await expectKept(service, calls.answered);
      expect(await service.end('SIGTERM')).toBe(0);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });
});

describeUnless(missingMount, 'the tool on a read-only file system', () => {
  const folder = useTemporaryFolder();

  it.each(['stopped', 'killed', 'running'])('reads, verifies and copies the log of a %s service', async (state) => {
    const service = await startProcess({}, folder.path);
    const id = await callOperation(service.url, 'httppost', 'RecordEvent', 'x');
    if (state !== 'running') await service.end(state === 'stopped' ? 'SIGTERM' : 'SIGKILL');
    const disk = join(folder.path, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['--bind', join(folder.path, 'data'), disk]);
    try {
      execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
      const run = (...args: string[]) => runToolHere(args, { EVENT_LOG: 'sqlite:disk/events.db' }, folder.path);
      expect(await run('print', '--json')).toMatchObject({ code: 0, output: expect.stringContaining(id) as string });
      expect((await run('verify')).errors).toBe('1 events verified. The log is whole.\n');
      expect(await run('backup', join(folder.path, 'copy.db'))).toMatchObject({ code: 0 });
      expect(await run('forget', id)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('attempt to write a readonly database') as string,
      });
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });
});
