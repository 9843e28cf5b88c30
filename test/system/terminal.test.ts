import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { childrenOf, kill, killProcesses, startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

describeWith({ script: 'bsdutils' }, 'the service on a terminal', () => {
  const folder = useTemporaryFolder();
  afterEach(killProcesses);

  it.each([
    ['1', '"settings read again"', 1],
    ['2', '"stopped"', 2],
  ])('reloads on SIGHUP, and stops when the terminal closes, with WORKERS=%s', async (WORKERS, line, lines) => {
    const onTerminal = join(folder.path, 'node');
    await writeFile(onTerminal, `#!/bin/sh\nexec script -qfc "exec '${process.execPath}' $*" /dev/null\n`);
    await chmod(onTerminal, 0o755);
    const service = await startProcess({ WORKERS, SHELL: '/bin/sh' }, folder.path, onTerminal);
    const [pid = 0] = await childrenOf(service);
    process.kill(pid, 'SIGHUP');
    await eventually('it has reloaded', () => service.output().split(line).length - 1 === lines);
    const all: number[] = [];
    await eventually('workers that were replaced have ended', async () => {
      all.splice(0, Infinity, pid, ...(await childrenOf({ child: { pid } })));
      return all.length === (WORKERS === '1' ? 1 : 3);
    });
    service.child.kill('SIGKILL');
    await eventually('all processes have ended', () => !all.some((pid) => kill(pid, 0)));
  });
});
