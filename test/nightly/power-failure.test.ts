import { spawnSync } from 'node:child_process';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { callOperation } from '../support/bindings';
import { startProcess } from '../support/process';
import { useTemporaryFolder } from '../support/temporary-folder';
import { TOOL } from '../support/tool';
import { describeWith } from '../support/tools';

const CALLS = 'trace=fsync,fdatasync,mkdir,rename,ftruncate,write,writev';

describeWith(
  { strace: 'strace' },
  'a power failure takes nothing, since what SQLite and Node leave open is synced:',
  () => {
    const folder = useTemporaryFolder();
    const log = { EVENT_LOG: 'sqlite:data/log/events.db' };
    let at: string;
    beforeEach(async () => {
      at = await realpath(folder.path);
    });

    /** Runs a script of Node, and returns its system calls in their order. */
    async function callsOf(...script: string[]): Promise<string[]> {
      const trace = join(at, 'trace');
      const args = ['-f', '-y', '-s', '200', '-o', trace, '-e', CALLS, process.execPath, ...script];
      const env = { PATH: process.env.PATH, UV_USE_IO_URING: '0', ...log };
      const { status, stderr } = spawnSync('strace', args, { cwd: at, env, encoding: 'utf8' });
      expect({ status, stderr }).toMatchObject({ status: 0 });
      return (await readFile(trace, 'utf8')).split('\n');
    }

    /** Expects that files and folders are synced after one call and before another one. */
    function expectSynced(calls: readonly string[], paths: readonly string[], after: string, before: string): void {
      const from = calls.findIndex((call) => call.includes(after));
      const to = calls.findIndex((call, i) => i > from && call.includes(before));
      expect([from, to]).not.toContain(-1);
      const synced = calls.slice(from, to).flatMap((call) => /f(?:data)?sync\(\d+<(.*?)>/.exec(call)?.[1] ?? []);
      expect(synced).toEqual(expect.arrayContaining([...paths]));
    }

    const record = async () => {
      const service = await startProcess(log, at);
      const id = await callOperation(service.url, 'httppost', 'RecordEvent', 'x');
      await service.end('SIGKILL');
      return id;
    };

    it.each(['makes', 'finds, made by a start that was killed'])(
      'the folders above those that a new log %s',
      async (found) => {
        await writeFile(join(at, 'archive'), '{"specversion":"1.0","id":"1","source":"/","type":"t"}\n');
        if (found !== 'makes') await mkdir(join(at, 'data/log'), { recursive: true });
        const calls = await callsOf(TOOL, 'import', 'archive');
        expectSynced(calls, [at, join(at, 'data')], found === 'makes' ? 'mkdir("' : '', '1 recorded');
      },
    );

    it('what a start finds in the write-ahead log of a killed process, before anybody reads it', async () => {
      const id = await record();
      const calls = await callsOf(TOOL, 'print');
      expectSynced(calls, [join(at, 'data/log/events.db-wal'), join(at, 'data/log')], '', id);
    });

    it('the write-ahead log from which forgotten events were cut', async () => {
      const calls = await callsOf(TOOL, 'forget', await record());
      const wal = join(at, 'data/log/events.db-wal');
      expectSynced(calls, [wal], `<${wal}>, 0)`, '1 removed');
    });

    it('the folder in which the position of a forwarder was replaced', async () => {
      const module = JSON.stringify(join(dirname(TOOL), 'forward/position.js'));
      const write = `new (require(${module}).PositionFile)('position').write({ sequence: 1 })`;
      const calls = await callsOf('-e', `${write}.then(() => console.error('written'))`);
      expectSynced(calls, [at], 'rename("position.unfinished", "position")', 'written');
    });
  },
);
