import { openMemoryLog, MemoryStore } from '../../../src/log/memory/event-log';
import { PAGE_BYTES, pageFiller } from '../../../src/log/queries';
import { describeEventLog } from '../event-log-suite';

describeEventLog('memory', () => {
  const store = new MemoryStore();
  return Promise.resolve({
    open: (retention) => Promise.resolve(openMemoryLog(retention, store)),
    remove: () => Promise.resolve(),
  });
});

it('a page of whole events has no more bytes than its limit, unless it is one event', () => {
  const [add, addOther] = [pageFiller({ limit: 9 }), pageFiller({ limit: 9 })];
  expect([add(PAGE_BYTES - 9, 0), add(4, 5), add(0, 1)]).toEqual(['whole', 'whole', 'full']);
  expect([addOther(1, PAGE_BYTES), addOther(1, 0)]).toEqual(['whole', 'full']);
});
