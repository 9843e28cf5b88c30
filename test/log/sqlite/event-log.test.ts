import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
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
