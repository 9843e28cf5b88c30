import type { NewEvent } from '../../src/events/stored-event';
import type { EventLog } from '../../src/log/event-log';
import type { SearchQuery } from '../../src/log/queries';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { newEvent } from '../support/events';

describe('the events that a search finds', () => {
  let log: EventLog;
  beforeEach(() => {
    log = openMemoryLog();
  });
  afterEach(() => log.close());

  const record = (count: number, event: (i: number) => Partial<NewEvent> = () => ({})) =>
    log.append(...Array.from({ length: count }, (_, i) => newEvent(event(i + 1))));
  const read = async (search: Omit<SearchQuery, 'limit'> = {}, stop = new AbortController().signal) => {
    const positions: number[] = [];
    for await (const { position } of log.find(search, stop)) positions.push(position);
    return positions;
  };
  const upTo = (end: number) => Array.from({ length: end }, (_, i) => i + 1);

  it('are read in log order, each once, up to the newest at the beginning', async () => {
    await record(250);
    const search = jest.spyOn(log, 'search').mockImplementationOnce(async (query) => {
      await record(1);
      search.mockRestore();
      return log.search(query);
    });
    expect(await read()).toEqual(upTo(250));
    expect(await read({ after: 3, before: 7 })).toEqual([4, 5, 6]);
  });

  it('may be larger than what is read at a time', async () => {
    await record(12, () => ({ data: `"data":"${'x'.repeat(3_000_000)}"` }));
    expect(await read()).toEqual(upTo(12));
  });

  it('are not those that were removed meanwhile', async () => {
    await record(10);
    const scan = log.scan.bind(log);
    jest.spyOn(log, 'scan').mockImplementationOnce(async (query) => {
      await log.forget([1, 4, 5, 10]);
      return scan(query);
    });
    expect(await read()).toEqual([2, 3, 6, 7, 8, 9]);
  });

  it('end after the step in which they are stopped', async () => {
    await record(1000);
    const stop = new AbortController();
    stop.abort();
    expect(await read({}, stop.signal)).toEqual(upTo(100));
  });
});
