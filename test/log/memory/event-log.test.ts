import { openMemoryLog, MemoryStore } from '../../../src/log/memory/event-log';
import { PAGE_BYTES, pageFiller, pageFrom } from '../../../src/log/queries';
import { newEvent } from '../../support/events';
import { describeEventLog } from '../event-log-suite';

describeEventLog('memory', () => {
  const store = new MemoryStore();
  return Promise.resolve({ open: (retention) => Promise.resolve(openMemoryLog(retention, store)) });
});

it('a page of whole events has no more bytes than its limit, unless it is one event', () => {
  const [add, addOther] = [pageFiller({}), pageFiller({})];
  expect([add(PAGE_BYTES - 9, 0), add(4, 5), add(0, 1)]).toEqual(['whole', 'whole', 'full']);
  expect([addOther(1, PAGE_BYTES), addOther(1, 0)]).toEqual(['whole', 'full']);
});

it('a page with as many events as were asked for is not kept waiting for one more', async () => {
  const looked = jest.fn();
  function* events() {
    for (const position of [1, 2]) yield { ...newEvent(), position };
    looked();
  }
  expect(await pageFrom(events(), { after: 0, limit: 2 })).toHaveLength(2);
  expect(looked).not.toHaveBeenCalled();
});
