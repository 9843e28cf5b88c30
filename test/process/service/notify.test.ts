import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { killProcesses, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('a service manager that wants to know', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  /** Starts the service with a program in the place of systemd-notify that writes down what it is to send. */
  const start = async (variables: Readonly<Record<string, string>> = {}) => {
    const program = join(folder.path, 'systemd-notify');
    await writeFile(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${folder.path}/told\n`);
    await chmod(program, 0o755);
    const PATH = `${folder.path}:${process.env.PATH ?? ''}`;
    return startProcess({ PATH, NOTIFY_SOCKET: '/run/notify', ...variables }, folder.path);
  };
  const told = async () => (await readFile(join(folder.path, 'told'), 'utf8').catch(() => '')).split('\n').slice(0, -1);

  it('gets a message once the service answers, and when it stops', async () => {
    const service = await start();
    await eventually('it is told', async () => (await told()).length === 1);
    expect(await told()).toEqual(['/run/notify READY=1']);
    expect(await service.end('SIGTERM')).toBe(0);
    await eventually('it is told again', async () => (await told()).includes('/run/notify STOPPING=1'));
  });

  it('gets one when workers are replaced and when all have been, from the supervisor alone', async () => {
    const service = await start({ WORKERS: '2' });
    service.child.kill('SIGHUP');
    await eventually('it is told', async () => (await told()).length === 3);
    expect(await told()).toEqual([
      '/run/notify READY=1',
      expect.stringMatching(/^\/run\/notify RELOADING=1 MONOTONIC_USEC=\d+$/),
      '/run/notify READY=1',
    ]);
    expect(await service.end('SIGTERM')).toBe(0);
    await eventually('it is told of the end', async () => (await told()).length === 4);
  });

  it('that cannot be told does not keep the service from answering', async () => {
    const service = await startProcess({ NOTIFY_SOCKET: '/run/notify', PATH: folder.path }, folder.path);
    const { reason } = await service.logged('the service manager could not be notified');
    expect(reason).toContain('systemd-notify');
    expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
  });
});
