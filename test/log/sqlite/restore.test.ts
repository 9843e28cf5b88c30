import { copyFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteEventLog } from '../../../src/log/sqlite/event-log';
import { restoreLog } from '../../../src/log/sqlite/upkeep/restore';
import { holdInProcess } from '../../support/sqlite';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { newEvent } from '../event-log-suite';

describe('a backup of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let backup: string;
  beforeEach(async () => {
    file = join(folder.path, 'events.db');
    backup = join(folder.path, 'backup.db');
    const log = await SqliteEventLog.open({ file });
    await log.append(newEvent({ id: 'first' }));
    await log.backup(backup);
    await log.append(newEvent({ id: 'second' }));
    await log.close();
  });

  const idsIn = async (name: string): Promise<string[]> => {
    const log = await SqliteEventLog.open({ file: name });
    const ids = (await log.scan({ after: 0n, limit: 10 })).map(({ id }) => id);
    await log.close();
    return ids;
  };

  it('takes the place of the log, which is kept', async () => {
    const before = await restoreLog(backup, file);
    expect(await readdir(folder.path)).toHaveLength(3);
    expect(await idsIn(file)).toEqual(['first']);
    expect(await idsIn(before ?? '')).toEqual(['first', 'second']);
    expect(await idsIn(backup)).toEqual(['first']);
  });

  it('is not restored while another process has the log open, which is named', async () => {
    await (await SqliteEventLog.open({ file })).close();
    const holder = holdInProcess(file);
    await holder.opened;
    const refused = restoreLog(backup, file);
    await expect(refused).rejects.toThrow(
      process.platform === 'linux' ? `open in process ${String(holder.pid)} (node -e)` : 'open in another process',
    );
    await holder.end();
    expect(await idsIn(file)).toEqual(['first', 'second']);
    await restoreLog(backup, file);
    expect(await idsIn(file)).toEqual(['first']);
  });

  it('is restored where the log is damaged or missing', async () => {
    await writeFile(file, 'not a database '.repeat(1000));
    await restoreLog(backup, file);
    expect(await idsIn(file)).toEqual(['first']);
    expect(await restoreLog(backup, join(folder.path, 'new.db'))).toBeUndefined();
    expect(await idsIn(join(folder.path, 'new.db'))).toEqual(['first']);
  });

  it('is not restored where it is damaged', async () => {
    const other = join(folder.path, 'other.db');
    await copyFile(backup, other);
    await writeFile(other, 'damage', { flag: 'r+' });
    await expect(restoreLog(other, file)).rejects.toThrow();
    await expect(restoreLog(join(folder.path, 'missing.db'), file)).rejects.toThrow('There is no backup');
    expect(await idsIn(file)).toEqual(['first', 'second']);
    expect((await readdir(folder.path)).filter((name) => name.includes('unfinished'))).toEqual([]);
  });
});
