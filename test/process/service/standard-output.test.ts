import { openSync } from 'node:fs';
import { eventually, succeeds } from '../../support/eventually';
import { send } from '../../support/http';
import { killProcesses } from '../../support/process';
import { freePort, run, SERVICE } from '../../support/program.cjs';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();
afterEach(killProcesses);

it.each(['1', '2'])(
  'with a full standard output the service answers, and ends with SIGTERM: WORKERS=%s',
  async (WORKERS) => {
    const PORT = String(await freePort());
    // Each write fails as on a full disk.
    const full = openSync('/dev/full', 'w');
    const variables = { PORT, WORKERS, ACCESS_LOG: 'true' };
    const service = run([process.execPath, SERVICE], { cwd: folder.path, variables, stdio: ['ignore', full, full] });
    const url = `http://127.0.0.1:${PORT}/webhooks/Services/WebHooks.asmx/HelloWorld`;
    await eventually('it answers', () => succeeds(send(url)));
    for (let i = 0; i < 20; i++) expect((await send(url)).status).toBe(200);
    expect(await service.end()).toBe(0);
  },
);
