import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { packEvents } from '../../../src/log/sqlite/batch';
import { SqliteConnection } from '../../../src/log/sqlite/connection';
import { SqliteRecorder } from '../../../src/log/sqlite/recorder';
import { newEvent } from '../../support/events';
import { rowsOf } from '../../support/sqlite';
import { useTemporaryFolder } from '../../support/temporary-folder';

const PASSIVE = 'PRAGMA wal_checkpoint(PASSIVE)';

describe('the write-back of a write-ahead log', () => {
  const folder = useTemporaryFolder();

  it.each([0, 0.5, 0.9])('leaves the file whole where %d of the log is left meanwhile', (part) => {
    const file = join(folder.path, 'events.db');
    const connection = new SqliteConnection({ file });
    const recorder = new SqliteRecorder(connection);
    const data = `"data":"${'x'.repeat(3000)}"`;
    const events = Array.from({ length: 900 }, () => newEvent({ data }));
    // Pages that the log changes come first in the file, those that it adds after them.
    recorder.append([packEvents(events.slice(0, 50))]);
    connection.emptyWal();
    let cuts = 0;
    const prepare = connection.prepare.bind(connection);
    connection.prepare = (sql) => {
      const length = statSync(`${file}-wal`).size;
      if (sql === PASSIVE && length > 0 && cuts++ === 0) truncateSync(`${file}-wal`, Math.floor(part * length));
      return prepare(sql);
    };
    for (let i = 50; i < events.length; i += 10) recorder.append([packEvents(events.slice(i, i + 10))]);
    expect(cuts).toBeGreaterThan(0);
    connection.close();
    expect(rowsOf(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(rowsOf(file, 'SELECT id FROM events ORDER BY sequence')).toEqual(events.map(({ id }) => ({ id })));
  });
});
