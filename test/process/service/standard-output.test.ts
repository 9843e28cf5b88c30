import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { send } from '../../support/http';
import { freePort } from '../../support/program.cjs';
import { useTemporaryFolder } from '../../support/temporary-folder';

const MAIN = join(__dirname, '..', '..', '..', 'dist', 'main.js');

const folder = useTemporaryFolder();

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

describe('a service whose standard output cannot be written', () => {
  it.each([
    ['by one process', '1'],
    ['by two workers', '2'],
  ])('answers, and ends with SIGTERM: %s', async (_name, workers) => {
    const port = String(await freePort());
    const { PATH = '' } = process.env;
    // Each write fails as on a full disk.
    child = spawn(process.execPath, [MAIN], {
      cwd: folder.path,
      env: { PATH, PORT: port, WORKERS: workers, ACCESS_LOG: 'true' },
      stdio: ['ignore', openSync('/dev/full', 'w'), openSync('/dev/full', 'w')],
    });
    const url = `http://127.0.0.1:${port}/webhooks/Services/WebHooks.asmx/HelloWorld`;
    const answers = () =>
      send(url).then(
        ({ status }) => status === 200,
        () => false,
      );
    await eventually('it answers', answers);
    for (let i = 0; i < 20; i++) expect(await answers()).toBe(true);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});
