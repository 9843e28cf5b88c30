import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { eventually } from '../../support/eventually';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('retention of a SQLite event log', () => {
  const folder = useTemporaryFolder();

  it('goes on after -shm was removed, although the log records nothing more', async () => {
    const file = join(folder.path, 'events.db');
    const retention = { maxEvents: undefined, maxAge: 3_600_000 };
    const log = await openSqliteLog({ file, retention, retentionPause: 20 });
    await log.append(newEvent({ id: 'new', recordedAt: Date.now() }));
    const lost = new Promise<string>((resolve) => {
      log.observe({ lost: resolve });
    });
    await unlink(`${file}-shm`);
    expect(await lost).toContain('the index of the write-ahead log was removed');
    const other = await openSqliteLog({ file });
    await other.append(newEvent({ id: 'old', recordedAt: Date.now() - 7_200_000 }));
    const ids = async () => (await other.scan({ after: 0, limit: 9 })).map(({ id }) => id).join();
    expect(await ids()).toMatch(/^new(,old)?$/);
    await eventually('the old event is gone', async () => (await ids()) === 'new');
    await Promise.all([log.close(), other.close()]);
  });
});
