import { join } from 'node:path';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import { describeEventLog } from '../../../log/event-log-suite';
import { temporaryFolder } from '../../../support/temporary-folder';

describeEventLog('SQLite', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  return {
    open: (retention) => openSqliteLog({ file, retentionPause: 20, ...(retention && { retention }) }),
    remove: () => folder.remove(),
  };
});
