import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { TOOL } from '../../support/tool';
import { itUnless } from '../../support/tools';

describe('what the tool prints', () => {
  const folder = useTemporaryFolder();
  const path = (name: string) => join(folder.path, name);

  beforeEach(async () => {
    const log = await openSqliteLog({ file: path('events.db') });
    const data = `"data":"${'x'.repeat(200)}"`;
    for (let i = 0; i < 3; i++) await log.append(...Array.from({ length: 500 }, () => newEvent({ data })));
    await log.close();
  });

  const start = (command: string, args: readonly string[]) =>
    spawn(command, args, { cwd: folder.path, env: { PATH: process.env.PATH ?? '', EVENT_LOG: 'sqlite:events.db' } });

  /** Runs a command of the shell, `$0` being Node and `$1` the tool, and resolves to its exit code and what it reported. */
  const shell = async (command: string): Promise<[code: number | null, errors: string]> => {
    const child = start('sh', ['-c', command, process.execPath, TOOL]);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return [code, errors];
  };

  it.each(['export -', 'print', 'follow --since 0'])(
    'ends with 1 where a file takes only part of the last page, with %s',
    async (args) => {
      expect(await shell('exec "$0" "$1" export - > whole')).toEqual([0, '1500 events exported.\n']);
      const { size } = await stat(path('whole'));
      // A file may have so many blocks of 512 bytes.
      const blocks = String(Math.floor(size / 512) - 1);
      const [code, errors] = await shell(`ulimit -f ${blocks}; exec "$0" "$1" ${args} > part`);
      expect(code).toBe(1);
      expect(errors).toMatch(
        /^(?:Waiting for events after 0\.\n\d+ events printed\.\n)?Standard output cannot be written: .*\.\n$/,
      );
      expect((await readFile(path('part'))).length).toBe(Number(blocks) * 512);
    },
  );

  itUnless(existsSync('/dev/full') ? undefined : '/dev/full', 'says that the disk is full', async () => {
    expect(await shell('exec "$0" "$1" export - > /dev/full')).toEqual([
      1,
      'Standard output cannot be written: the disk is full.\n',
    ]);
  });

  it('imports what is past retention once', async () => {
    const imported = 'EVENT_LOG=sqlite:other.db RETENTION_MAX_EVENTS=10 exec "$0" "$1" import whole';
    await shell('exec "$0" "$1" export - > whole');
    expect(await shell(imported)).toEqual([0, '1500 recorded, 0 already in the log.\n']);
    expect(await shell(imported)).toEqual([0, '0 recorded, 1500 already in the log.\n']);
  });

  it.each(['0: follow --since 0', '1: export -', '1: print'])('SIGTERM ends what nobody reads: %s', async (how) => {
    const [expected, ...args] = how.split(/:? /);
    const child = start(process.execPath, [TOOL, ...args]);
    const ended = once(child, 'exit');
    // More has begun to be printed than a pipe holds.
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    expect(await ended).toEqual([Number(expected), null]);
  });
});
