import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { temporaryFolder } from '../../support/temporary-folder';
import { describeEventLog } from '../event-log-suite';

describeEventLog('SQLite', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  return {
    open: (retention) => openSqliteLog({ file, retention, retentionPause: 20 }),
    remove: () => folder.remove(),
  };
});

it('SQLite reads no other file where its own was moved before the first read', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  const log = await openSqliteLog({ file });
  await log.append(newEvent());
  await rename(file, `${file}.moved`);
  await expect(log.scan({ after: 0, limit: 1 })).rejects.toHaveProperty(
    'cause.message',
    'the file of the log is not there any more',
  );
  await rename(`${file}.moved`, file);
  await log.close();
  await folder.remove();
});

it('SQLite leaves nothing outside the file that it writes anew, also beside others who have it open', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  const [log, other] = [await openSqliteLog({ file }), await openSqliteLog({ file })];
  await log.append(newEvent());
  await log.upkeep?.rewrite();
  const { size } = await stat(`${file}-wal`);
  await other.close();
  await log.close();
  // Until the write-ahead log is written back, the file has its old pages.
  expect(size).toBe(0);
  await folder.remove();
});
