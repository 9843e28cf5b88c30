import { join } from 'node:path';
import { Database } from '../../../src/log/sqlite/database';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('the database of a log', () => {
  const folder = useTemporaryFolder();
  const file = () => join(folder.path, 'events.db');

  it('waits until a commit is on the disk itself, also where that takes more than fsync', () => {
    const database = new Database({ file: file() });
    expect(database.prepare('PRAGMA fullfsync').get()).toEqual({ fullfsync: 1 });
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  it('answers a repetition of two events with the id of the first', async () => {
    const log = await openSqliteLog({ file: file() });
    await log.append(newEvent({ id: 'first', webhookId: 'delivery' }));
    await log.append(newEvent({ id: 'second', source: '/sender' }));
    const both = newEvent({ id: 'second', source: '/sender', webhookId: 'delivery' });
    expect(await log.append(both)).toEqual({ id: 'first', recorded: false });
    await log.close();
  });
});
