import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { killProcesses, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

const MAIN = join(__dirname, '..', '..', '..', 'dist', 'main.js');

describe('descriptors that are said to be passed on', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  /** Runs the service with a file as its descriptor 3, and resolves to what it printed. */
  const runWithFile = (variables: Readonly<Record<string, string>>): Promise<string> =>
    new Promise((resolve) => {
      const script = 'LISTEN_PID=$$ exec "$0" "$1" 3</dev/null 4</dev/null';
      const env = { PATH: process.env.PATH ?? '', ...variables };
      execFile('sh', ['-c', script, process.execPath, MAIN], { cwd: folder.path, env }, (_error, stdout, stderr) => {
        resolve(stdout + stderr);
      });
    });

  it.each([
    [
      { LISTEN_FDS: '1' },
      'LISTEN_FDS: descriptor 3 (webhook) must be a TCP socket that listens; ' +
        'set ListenStream to a port, or an address and a port, and Accept=no in the socket unit',
    ],
    [
      { LISTEN_FDS: '2', LISTEN_FDNAMES: 'webhook:other' },
      'LISTEN_FDNAMES=webhook:other: must name each socket webhook or admin, and no two the same; ' +
        'set FileDescriptorName in the socket units, and one ListenStream in each',
    ],
    [
      { LISTEN_FDS: '2', LISTEN_FDNAMES: 'admin:admin' },
      'LISTEN_FDNAMES=admin:admin: must name each socket webhook or admin, and no two the same; ' +
        'set FileDescriptorName in the socket units, and one ListenStream in each',
    ],
  ])('stop the start with %j, and the message says what to change', async (variables, message) => {
    expect(await runWithFile(variables)).toBe(`The configuration is wrong.\n${message}\n`);
  });

  it('do not count where they are for another process', async () => {
    const service = await startProcess({ LISTEN_PID: '1', LISTEN_FDS: '1' }, folder.path);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
