import { copyFile, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as binding from '../../../../src/log/sqlite/binding';
import { ReadOnlyConnection } from '../../../../src/log/sqlite/read-only';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import type { FileLog } from '../../../../src/log/event-log';
import { newEvent } from '../../../support/events';
import { messageChain } from '../../../../src/util/text';
import { eventually } from '../../../support/eventually';
import { openDirectly } from '../../../support/sqlite';
import { useTemporaryFolder } from '../../../support/temporary-folder';

describe('a SQLite event log that is opened for reading', () => {
  const folder = useTemporaryFolder();
  const open: FileLog[] = [];
  afterEach(async () => {
    for (const log of open.splice(0)) await log.close();
  });
  const opened = async (name: string, readOnly: boolean): Promise<FileLog> => {
    const log = await openSqliteLog({ file: join(folder.path, name), readOnly });
    open.push(log);
    return log;
  };
  const closed = async (...ids: string[]): Promise<void> => {
    const log = await openSqliteLog({ file: join(folder.path, 'events.db') });
    for (const id of ids) await log.append(newEvent({ id }));
    await log.close();
  };
  const idsIn = async (log: FileLog) => (await log.scan({ after: 0, limit: 100 })).map(({ id }) => id);
  const files = async () => {
    const names = await readdir(folder.path);
    return Promise.all(
      names.map(async (name) => {
        const { mtimeMs, ctimeMs, ino } = await stat(join(folder.path, name));
        return { name, mtimeMs, ctimeMs, ino, content: (await readFile(join(folder.path, name))).toString('base64') };
      }),
    );
  };

  it('changes nothing and makes no file, whatever it is asked', async () => {
    await closed('a', 'b');
    const before = await files();
    const log = await opened('events.db', true);
    expect(await log.verify()).toEqual([]);
    expect(await idsIn(log)).toEqual(['a', 'b']);
    expect((await log.search({ limit: 1, text: 'test' })).events).toMatchObject([{ id: 'b' }]);
    expect(await log.stats()).toMatchObject({ events: 2, last: 2 });
    expect(await log.append(newEvent()).catch(messageChain)).toBe(
      'The event could not be recorded. ---> the event log was opened for reading only',
    );
    await log.close();
    expect(await files()).toEqual(before);
  });

  it('reads what others record meanwhile, from when they open it until after they close it', async () => {
    await closed('a');
    const log = await opened('events.db', true);
    expect(await idsIn(log)).toEqual(['a']);
    const other = await opened('events.db', false);
    expect(await idsIn(log)).toEqual(['a']);
    await other.append(newEvent({ id: 'b' }));
    expect(await idsIn(log)).toEqual(['a', 'b']);
    await other.close();
    await closed('c');
    expect(await idsIn(log)).toEqual(['a', 'b', 'c']);
    await log.close();
    await closed('d');
    expect(await readdir(folder.path)).toEqual(['events.db']);
  });

  it('opens the file anew if others were the last to close it just then', async () => {
    await closed('a');
    const file = join(folder.path, 'events.db');
    const other = openDirectly(file);
    other.exec('BEGIN IMMEDIATE; COMMIT');
    expect(await readdir(folder.path)).toEqual(expect.arrayContaining(['events.db-wal', 'events.db-shm']));
    other.exec(`UPDATE events SET id = 'b'`);
    const open = binding.openReadOnly;
    const opening = jest.spyOn(binding, 'openReadOnly').mockImplementationOnce((name, companions) => {
      const database = open(name, companions);
      other.close();
      return database;
    });
    const reader = new ReadOnlyConnection(file);
    expect(opening).toHaveBeenCalledTimes(2);
    expect(reader.prepare('SELECT id FROM events').all()).toEqual([{ id: 'b' }]);
    reader.requireFiles();
    reader.close();
    opening.mockRestore();
  });

  it('lets go of files that others have replaced, so that these can be opened, and reads the new ones', async () => {
    await closed('a');
    const service = await opened('events.db', false);
    await service.backup(join(folder.path, 'backup.db'));
    await service.append(newEvent({ id: 'b' }));
    const log = await opened('events.db', true);
    expect(await idsIn(log)).toEqual(['a', 'b']);
    await service.close();
    await copyFile(join(folder.path, 'backup.db'), join(folder.path, 'events.db'));
    for (const suffix of ['-wal', '-shm']) await rm(join(folder.path, `events.db${suffix}`), { force: true });
    const other = await opened('events.db', false);
    await other.append(newEvent({ id: 'c' }));
    await eventually('it reads the new file', async () => (await idsIn(log)).join() === 'a,c');
  });

  it('answers the question by which it notices that others have removed files', async () => {
    const service = await opened('events.db', false);
    await service.append(newEvent({ id: 'a' }));
    const log = await opened('events.db', true);
    expect(await idsIn(log)).toEqual(['a']);
    await service.close();
    for (const suffix of ['-wal', '-shm']) await rm(join(folder.path, `events.db${suffix}`));
    expect(await idsIn(log)).toEqual(['a']);
  });

  it('reads what a service that was killed has left in its write-ahead log, also without the index of that', async () => {
    await closed('a');
    const service = await opened('events.db', false);
    await service.append(newEvent({ id: 'b' }));
    for (const suffix of ['', '-wal'])
      await copyFile(join(folder.path, `events.db${suffix}`), join(folder.path, `left.db${suffix}`));
    const left = async () =>
      (await files()).flatMap(({ name, ino, mtimeMs, content }) =>
        name.startsWith('left') ? [{ name, ino, mtimeMs, content }] : [],
      );
    const before = await left();
    const log = await opened('left.db', true);
    expect(await idsIn(log)).toEqual(['a', 'b']);
    expect(await log.verify()).toEqual([]);
    expect(await left()).toEqual(before);
    const again = await opened('left.db', false);
    await again.append(newEvent({ id: 'c' }));
    expect(await idsIn(log)).toEqual(['a', 'b', 'c']);
    await again.close();
    expect(await idsIn(log)).toEqual(['a', 'b', 'c']);
  });

  it('reads the file that has taken the place of the one before', async () => {
    await closed('a', 'b');
    await rename(join(folder.path, 'events.db'), join(folder.path, 'before.db'));
    await closed('x');
    const log = await opened('events.db', true);
    expect(await idsIn(log)).toEqual(['x']);
    await rename(join(folder.path, 'before.db'), join(folder.path, 'events.db'));
    expect(await idsIn(log)).toEqual(['a', 'b']);
  });

  it('is not brought up to date from an earlier version, nor made of an empty file', async () => {
    await closed('a');
    const database = openDirectly(join(folder.path, 'events.db'));
    database.exec('PRAGMA user_version = 1; PRAGMA journal_mode = DELETE');
    database.close();
    const before = await files();
    await expect(opened('events.db', true).catch((error: unknown) => messageChain(error))).resolves.toMatch(
      /the file was written by an earlier version\. The service brings it up to date when it starts$/,
    );
    expect(await files()).toEqual(before);
    await expect(opened('missing.db', true)).rejects.toThrow('cannot be opened');
    expect(await readdir(folder.path)).toEqual(['events.db']);
  });
});
