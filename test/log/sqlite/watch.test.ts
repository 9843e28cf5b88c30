import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import type { FileLog } from '../../../src/log/event-log';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { watching } from '../../support/watching';
import { newEvent } from '../../support/events';

describe('a watch of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let log: FileLog;
  beforeEach(async () => {
    file = join(folder.path, 'events.db');
    log = await openSqliteLog({ file });
  });
  afterEach(() => log.close());

  it('reports an event of its own process before the call that recorded it is answered', async () => {
    const watch = watching(log);
    await watch.reaches(0);
    for (let i = 1; i <= 10; i++) {
      await log.append(newEvent());
      expect(watch.told.at(-1)).toBe(i);
    }
    await log.appendAll([newEvent(), newEvent()]);
    expect(watch.told.at(-1)).toBe(12);
    watch.end();
  });

  it('goes on with the file that is found under the name when the one that was open is gone', async () => {
    await log.append(newEvent());
    const watch = watching(log);
    await watch.reaches(1);
    for (const ending of ['', '-wal', '-shm']) await rm(file + ending);
    while (watch.told.at(-1) !== 0) await watch.next();
    const other = await openSqliteLog({ file });
    await other.append(newEvent());
    await watch.reaches(1);
    expect(watch.told).toEqual([1, 0, 1]);
    watch.end();
    await other.close();
  });
});
