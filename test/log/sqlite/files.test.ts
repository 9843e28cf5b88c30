import fs, { type BigIntStats } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { filesAt, pathOf, requireSame } from '../../../src/log/sqlite/files';
import { newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('the files of a log on a drive of Windows', () => {
  it('are told apart by file numbers that only a bigint holds', () => {
    let [ino, dev] = [2n ** 60n, 1n];
    jest.spyOn(fs, 'statSync').mockImplementation((_path, options) => {
      return (options?.bigint ? { ino, dev } : { ino: Number(ino), dev: Number(dev) }) as BigIntStats;
    });
    const opened = filesAt('e.db', 'e.db');
    requireSame(filesAt('e.db', 'e.db'), opened);
    const expectAnother = () => {
      const found = filesAt('e.db', 'e.db');
      expect(() => requireSame(found, opened)).toThrow('another file has taken the place of the file of the log');
    };
    ino += 1n;
    expectAnother();
    [ino, dev] = [ino - 1n, 2n];
    expectAnother();
  });

  it('have the name that was given where it cannot be resolved', () => {
    jest.spyOn(fs.realpathSync, 'native').mockImplementation(() => {
      throw Object.assign(new Error('EISDIR: illegal operation on a directory, realpath'), { code: 'EISDIR' });
    });
    expect(pathOf(__filename)).toBe(__filename);
  });
});

describe('the files of a log', () => {
  const folder = useTemporaryFolder();
  const file = (suffix = '') => join(folder.path, `events.db${suffix}`);
  /** What is in the files; SQLite may write the index of the write-ahead log anew. */
  const contents = async () => {
    const names = (await readdir(folder.path)).filter((name) => !name.endsWith('-shm'));
    return Promise.all(names.map(async (name) => [name, await readFile(join(folder.path, name), 'latin1')]));
  };

  it.each<[string, string, () => Promise<unknown>]>([
    ['moved', 'the file of the log is not there any more', () => rename(file(), file('.moved'))],
    ['removed', 'the file of the log is not there any more', () => rm(file())],
    ['replaced', 'another file has', () => copyFile(file(), file('.new')).then(() => rename(file('.new'), file()))],
    ['without their -wal', 'the write-ahead log beside the file was removed or replaced', () => rm(file('-wal'))],
    ['without their -shm', 'the index of the write-ahead log (-shm)', () => rm(file('-shm'))],
  ])('are neither read nor written once they are %s', async (_what, reason, accident) => {
    const log = await openSqliteLog({ file: file() });
    await log.append(newEvent());
    await accident();
    const before = await contents();
    const writing = [log.append(newEvent()), log.forget([1]), log.upkeep?.rewrite(), log.upkeep?.compact()];
    const reading = [log.newest(), log.stats(), log.counts([0, 1]), log.read({ limit: 1 }), log.search({ limit: 1 })];
    const checking = [log.check(), log.verify(), log.upkeep?.backup(file('.copy'))];
    for (const call of [...writing, ...reading, ...checking])
      await expect(call).rejects.toHaveProperty('cause.message', expect.stringContaining(reason));
    await log.close();
    expect(await contents()).toEqual(before);
  });

  it('are those to which a symbolic link leads, also if they were made through it', async () => {
    await mkdir(file('.data'));
    await symlink(join(file('.data'), 'e.db'), file());
    const log = await openSqliteLog({ file: file() });
    await log.append(newEvent());
    await rename(join(file('.data'), 'e.db-wal'), file('.moved'));
    await expect(log.append(newEvent())).rejects.toThrow('The event could not be recorded.');
    await log.close();
  });

  it.each(['missing', 'empty'])(
    'are not opened if the first is %s beside a write-ahead log, which SQLite would delete',
    async (what) => {
      await writeFile(file('-wal'), 'events');
      if (what === 'empty') await writeFile(file(), '');
      const reason: unknown = expect.stringContaining('the write-ahead log beside the file');
      await expect(openSqliteLog({ file: file() })).rejects.toHaveProperty('cause.message', reason);
      expect(await readFile(file('-wal'), 'utf8')).toBe('events');
    },
  );
});
