import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import type { EventLog } from '../../../src/log/event-log';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { watching } from '../../support/watching';
import { newEvent } from '../../support/events';

describe('a watch of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  let log: EventLog;
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
    await log.append(newEvent(), newEvent());
    expect(watch.told.at(-1)).toBe(12);
    watch.end();
  });

  it('soon reports what another process has recorded', async () => {
    const watch = watching(log);
    await watch.reaches(0);
    const other = await openSqliteLog({ file });
    await other.append(newEvent());
    await watch.reaches(1);
    watch.end();
    await other.close();
  });
});
