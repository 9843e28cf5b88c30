import { chmod, chown, copyFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { restoreLog } from '../../../src/log/sqlite/upkeep/restore';
import { holdInProcess, rowsOf } from '../../support/sqlite';
import { temporaryFolder, useTemporaryFolder } from '../../support/temporary-folder';
import { newEvent } from '../../support/events';

describe('a backup of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let backup: string;
  let made: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    made = await temporaryFolder();
    const log = await openSqliteLog({ file: join(made.path, 'events.db') });
    await log.append(newEvent({ id: 'first' }));
    await log.backup(join(made.path, 'backup.db'));
    await log.append(newEvent({ id: 'second' }));
    await copyFile(join(made.path, 'events.db-wal'), join(made.path, 'events.db-wal.copy'));
    await log.close();
  });
  afterAll(() => made.remove());
  beforeEach(async () => {
    file = join(folder.path, 'events.db');
    backup = join(folder.path, 'backup.db');
    await copyFile(join(made.path, 'events.db'), file);
    await copyFile(join(made.path, 'backup.db'), backup);
  });

  const idsIn = (name: string) =>
    rowsOf(name, 'SELECT id FROM file.events ORDER BY sequence').map((row) => (row as { id: string }).id);

  it('takes the place of the log, which is kept', async () => {
    const { before } = await restoreLog(backup, file);
    expect(await readdir(folder.path)).toHaveLength(3);
    expect(idsIn(file)).toEqual(['first']);
    expect(idsIn(before ?? '')).toEqual(['first', 'second']);
    expect(idsIn(backup)).toEqual(['first']);
  });

  it('is not restored while another process has the log open, which is named', async () => {
    await (await openSqliteLog({ file })).close();
    const holder = holdInProcess(file);
    await holder.opened;
    const refused = restoreLog(backup, file);
    await expect(refused).rejects.toThrow(
      process.platform === 'linux' ? `open in process ${String(holder.pid)} (node -e)` : 'open in another process',
    );
    await holder.end();
    expect(idsIn(file)).toEqual(['first', 'second']);
    await restoreLog(backup, file);
    expect(idsIn(file)).toEqual(['first']);
  });

  it('is restored where the log is damaged or missing', async () => {
    await writeFile(file, 'not a database '.repeat(1000));
    await copyFile(join(made.path, 'events.db-wal.copy'), `${file}-wal`);
    const { before = '' } = await restoreLog(backup, file);
    expect(idsIn(file)).toEqual(['first']);
    expect(await readFile(`${before}-wal`)).toEqual(await readFile(join(made.path, 'events.db-wal.copy')));
    expect(await readdir(folder.path)).not.toContain('events.db-wal');
    const restored = await restoreLog(backup, join(folder.path, 'new.db'));
    expect(restored).toEqual({ before: undefined, goesOn: false });
    expect(idsIn(join(folder.path, 'new.db'))).toEqual(['first']);
  });

  it('is not restored where it is damaged', async () => {
    const other = join(folder.path, 'other.db');
    await copyFile(backup, other);
    await writeFile(other, 'damage', { flag: 'r+' });
    await expect(restoreLog(other, file)).rejects.toThrow();
    await expect(restoreLog(join(folder.path, 'missing.db'), file)).rejects.toThrow('There is no backup');
    expect(idsIn(file)).toEqual(['first', 'second']);
    expect((await readdir(folder.path)).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('is restored where only the write-ahead log of the log is there, which is kept', async () => {
    const log = await openSqliteLog({ file });
    await log.append(newEvent({ id: 'third' }));
    await copyFile(`${file}-wal`, join(folder.path, 'wal'));
    await log.close();
    await rm(file);
    await rename(join(folder.path, 'wal'), `${file}-wal`);
    await writeFile(`${file}-shm`, 'x');
    const { before = '', goesOn } = await restoreLog(backup, file);
    expect(goesOn).toBe(false);
    expect((await stat(`${before}-wal`)).size).toBeGreaterThan(0);
    expect(idsIn(file)).toEqual(['first']);
    expect(await readdir(folder.path)).not.toContain('events.db-wal');
  });

  it('gives no position again that the log before gave, also those of events that it has forgotten', async () => {
    const before = await openSqliteLog({ file });
    await before.append(newEvent({ id: 'third' }));
    await before.forget([3]);
    await before.close();
    expect(await restoreLog(backup, file)).toMatchObject({ goesOn: true });
    const log = await openSqliteLog({ file });
    await log.append(newEvent({ id: 'next' }));
    expect((await log.scan({ after: 3, limit: 10 })).map(({ id }) => id)).toEqual(['next']);
    expect(await log.verify()).toEqual([]);
    await log.close();
  });

  it('of an empty log goes on after the positions of the log before', async () => {
    const empty = join(folder.path, 'empty.db');
    await (await openSqliteLog({ file: empty })).close();
    await restoreLog(empty, file);
    const log = await openSqliteLog({ file });
    await log.append(newEvent());
    expect((await log.scan({ after: 0, limit: 10 })).map(({ position }) => position)).toEqual([3]);
    await log.close();
  });

  it('is named by its own name where it cannot be restored', async () => {
    const other = join(folder.path, 'notes.txt');
    await writeFile(other, 'these are my notes '.repeat(100));
    const refused = restoreLog(other, file);
    await expect(refused).rejects.toThrow(`The backup ${other} cannot be restored.`);
    await expect(refused).rejects.toMatchObject({
      cause: { message: expect.stringContaining('not a SQLite') as string },
    });
  });

  it('gets the owner and the mode of the log that it replaces, else of its folder', async () => {
    // Only root can give a file away.
    if (process.getuid?.() !== 0) return;
    const ownerOf = async (name: string) => {
      const { uid, gid, mode } = await stat(name);
      return [uid, gid, mode & 0o777];
    };
    await chown(file, 4321, 8765);
    await chmod(file, 0o640);
    await restoreLog(backup, file);
    expect(await ownerOf(file)).toEqual([4321, 8765, 0o640]);
    await chown(folder.path, 5432, 9876);
    await chmod(folder.path, 0o750);
    await rm(file);
    await restoreLog(backup, file);
    expect(await ownerOf(file)).toEqual([5432, 9876, 0o640]);
    const made = await openSqliteLog({ file: join(folder.path, 'made.db') });
    await made.append(newEvent());
    for (const suffix of ['', '-wal', '-shm']) {
      expect(await ownerOf(join(folder.path, `made.db${suffix}`))).toEqual([5432, 9876, 0o640]);
    }
    await made.close();
  });
});
