import { copyFile, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { eventually } from '../../support/eventually';
import { outcome, newEvent } from '../../support/events';
import { startProcess } from '../../support/process';
import { openConnection, untilClosed } from '../../support/wire';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('the files of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let log: EventLog;
  const lost: (string | undefined)[] = [];
  beforeEach(async () => {
    lost.length = 0;
    file = join(folder.path, 'events.db');
    log = await openSqliteLog({ file });
    log.observe({ lost: (problem) => lost.push(problem) });
    await log.append(newEvent({ id: 'before' }));
  });

  const moved = (suffix: string) => rename(file + suffix, `${file}.moved${suffix}`);
  /** What is in the files; SQLite may write the index of the write-ahead log anew. */
  const contents = async () => {
    const names = (await readdir(folder.path)).filter((name) => !name.endsWith('-shm'));
    const read = (name: string) => readFile(join(folder.path, name), 'latin1');
    return Promise.all(names.map(async (name) => [name, await read(name)]));
  };

  it.each<[string, string, () => Promise<unknown>]>([
    ['moved', 'the file of the log is not there any more', () => moved('')],
    ['removed', 'the file of the log is not there any more', () => rm(file)],
    [
      'replaced',
      'another file has taken the place of the file of the log',
      () => copyFile(file, `${file}.other`).then(() => rename(`${file}.other`, file)),
    ],
    ['without their -wal', 'the write-ahead log beside the file was removed or replaced', () => moved('-wal')],
    [
      'without their -shm',
      'the index of the write-ahead log (-shm) beside the file was removed or replaced',
      () => rm(`${file}-shm`),
    ],
  ])(
    'are written no more once they are %s, and the reason is told once, within a second',
    async (_what, reason, accident) => {
      await accident();
      const before = await contents();
      await eventually('the loss is told', () => lost.length > 0);
      for (let i = 0; i < 3; i++) {
        const one = { limit: 1 };
        for (const call of [outcome(log.append(newEvent())), log.check(), log.stats(), log.read(one), log.search(one)])
          await expect(call).rejects.toMatchObject({ cause: { message: reason } });
      }
      expect(lost).toEqual([reason]);
      await log.close();
      expect(await contents()).toEqual(before);
    },
  );

  it('are used again once they are back, which is told', async () => {
    await moved('');
    await eventually('the loss is told', () => lost.length > 0);
    await rename(`${file}.moved`, file);
    await log.append(newEvent({ id: 'after' }));
    expect((await log.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['before', 'after']);
    await eventually('it is told', () => lost.length > 1);
    expect(lost.at(-1)).toBeUndefined();
    await log.close();
  });

  it('are not opened where only the write-ahead log is left, which SQLite would delete', async () => {
    await moved('');
    await log.close();
    await expect(openSqliteLog({ file })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('the write-ahead log beside the file') as string },
    });
    await rename(`${file}.moved`, file);
    const again = await openSqliteLog({ file });
    expect((await again.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['before']);
    await again.close();
  });

  it('can be opened when callers take every connection', async () => {
    await log.close();
    const node = join(folder.path, 'node');
    await writeFile(node, `#!/bin/sh\nulimit -n 200\nexec '${process.execPath}' "$@"\n`, { mode: 0o700 });
    const service = await startProcess({ EVENT_LOG: `sqlite:${join(folder.path, 'events.db')}` }, folder.path, node);
    const first = await openConnection(service.url);
    const others = await Promise.all(Array.from({ length: 300 }, () => openConnection(service.url)));
    for (const other of others) other.on('error', () => undefined).resume();
    expect(service.output()).toContain('MAX_CONNECTIONS is 50, not 1200');
    const { host, pathname } = new URL(service.url);
    const fields = `Host: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    first.write(`POST ${pathname}/RecordEvent HTTP/1.1\r\n${fields}`);
    expect(await untilClosed(first)).toContain('200 OK');
    await eventually('the others are refused', () => others.filter(({ destroyed }) => !destroyed).length <= 50);
    for (const other of others) other.destroy();
    expect(await service.end('SIGTERM')).toBe(0);
    expect(service.output()).not.toContain('lost');
  });
});
