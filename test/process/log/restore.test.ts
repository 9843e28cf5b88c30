import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog, restoreSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { TOOL } from '../../support/tool';

describe('a backup of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let backup: string;
  let log: EventLog;
  beforeEach(async () => {
    file = join(folder.path, 'events.db');
    backup = join(folder.path, 'backup.db');
    log = await openSqliteLog({ file });
    await log.append(newEvent({ id: 'first' }));
    await log.upkeep?.backup(backup);
    await log.append(newEvent({ id: 'second' }));
  });
  afterEach(() => log.close());

  it('goes on after its own positions where the log has given fewer, also if their events were forgotten', async () => {
    await log.forget([1, 2]);
    await log.upkeep?.backup(join(folder.path, 'later.db'));
    const other = join(folder.path, 'other.db');
    expect(await restoreSqliteLog(join(folder.path, 'later.db'), other)).toBeUndefined();
    const restored = await openSqliteLog({ file: other });
    await restored.append(newEvent({ id: 'next' }));
    const next = await restored.scan({ after: 0, limit: 10 });
    await restored.close();
    expect(next.map(({ position }) => position)).toEqual([3]);
  });

  it('changes nothing where it is damaged, missing or something else', async () => {
    const damaged = join(folder.path, 'damaged.db');
    await copyFile(backup, damaged);
    await writeFile(damaged, Buffer.alloc(4096, 0xff), { flag: 'r+' });
    const notes = join(folder.path, 'notes.txt');
    await writeFile(notes, 'these are my notes '.repeat(100));
    for (const other of [damaged, notes, join(folder.path, 'missing.db')])
      await expect(restoreSqliteLog(other, file)).rejects.toThrow(other);
    expect((await log.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['first', 'second']);
    expect((await readdir(folder.path)).filter((name) => /missing|replaced/.test(name))).toEqual([]);
  });

  it('leaves nothing behind where the disk has no room for it', async () => {
    for (let i = 0; i < 8; i++) await log.append(newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }));
    const script = `ulimit -f 4000; exec '${process.execPath}' '${TOOL}' backup full/copy.db`;
    await mkdir(join(folder.path, 'full'));
    const { status, stderr } = spawnSync('sh', ['-c', script], {
      cwd: folder.path,
      env: { EVENT_LOG: 'sqlite:events.db' },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, 'The event log could not be copied: disk I/O error\n']);
    expect(await readdir(join(folder.path, 'full'))).toEqual([]);
  });
});
