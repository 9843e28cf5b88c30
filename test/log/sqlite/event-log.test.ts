import { readdir, readFile, rename } from 'node:fs/promises';
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

it('SQLite has no remains of a forgotten key in its files once the log is written anew, also beside others', async () => {
  const folder = await temporaryFolder();
  const [log, other] = [
    await openSqliteLog({ file: join(folder.path, 'events.db') }),
    await openSqliteLog({ file: join(folder.path, 'events.db') }),
  ];
  await log.append(newEvent({ idempotencyKey: 'a key that is forgotten' }));
  await log.forget([1]);
  await log.upkeep?.rewrite();
  for (const name of await readdir(folder.path)) {
    const bytes = await readFile(join(folder.path, name));
    expect([name, bytes.includes('a key that is forgotten')]).toEqual([name, false]);
  }
  await other.close();
  await log.close();
  await folder.remove();
});
