import { openMemoryLog, MemoryStore } from '../../../src/log/memory/event-log';
import { describeEventLog } from '../event-log-suite';

describeEventLog('memory', () => {
  const store = new MemoryStore();
  return Promise.resolve({
    open: (retention) => Promise.resolve(openMemoryLog(store, retention)),
    remove: () => Promise.resolve(),
  });
});
