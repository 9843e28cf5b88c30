import { sequenceOf, type StoredEvent, wireBytes } from '../../src/events/stored-event';
import type { EventLog } from '../../src/log/event-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import type { Call } from '../../src/service/call';
import { EventReader, readPage, type PageQuery } from '../../src/service/event-reader';
import { everyEvent, newEvent } from '../support/events';

const QUERY: PageQuery = { ...everyEvent, referenceBytes: 100 };

/** The bytes of an event in an answer, with the comma after it. */
function written({ attributes, position, data }: Omit<StoredEvent, 'dataOmitted'>): number {
  return wireBytes(`${attributes},"sequence":"${sequenceOf(position)}"${data === undefined ? '' : `,${data}`},`);
}

describe('a page of events', () => {
  let log: EventLog;
  beforeEach(() => {
    log = openMemoryLog();
  });
  afterEach(() => log.close());

  const record = async (...data: readonly string[]) => {
    for (const text of data) await log.append(newEvent({ data: `"data":"${text}"` }));
  };
  const positions = async (query: Partial<PageQuery>) =>
    (await readPage(log, { ...QUERY, ...query })).map(({ position, dataOmitted }) =>
      dataOmitted !== undefined ? `${String(position)} without data` : String(position),
    );

  it('has as many events as fit, measured as XML text', async () => {
    await record(...Array.from({ length: 10 }, () => '<'.repeat(100)));
    const all = await log.read(everyEvent);
    const maxBytes = all.slice(-3).reduce((sum, event) => sum + written(event), 0);
    expect(await positions({ maxBytes })).toEqual(['8', '9', '10']);
    expect(await positions({ maxBytes: maxBytes - 1 })).toEqual(['9', '10']);
    expect(await positions({ maxBytes, after: 0 })).toEqual(['1', '2', '3']);
  });

  it('has no event that the disk has damaged, also if it was asked for', async () => {
    await log.append(newEvent({ id: 'a', data: '"data":"lost' }));
    expect(await positions({})).toEqual([]);
    expect(await positions({ position: 1 })).toEqual([]);
    expect(await positions({ id: 'a' })).toEqual([]);
    const call = { reserve: () => undefined } as Partial<Call> as Call;
    expect(await new EventReader(log).read({ ...QUERY, maxBytes: 1, id: 'a' }, 0, call)).toEqual([]);
  });

  it('has events without their data where that is too large only as XML text, and goes on after them', async () => {
    await record('a', '&'.repeat(900), '&'.repeat(900), '&'.repeat(900), 'b');
    const omitted = ['2 without data', '3 without data', '4 without data'];
    expect(await positions({ maxBytes: 2000 })).toEqual(['1', ...omitted, '5']);
    expect(await positions({ maxBytes: 2000, after: 0 })).toEqual(['1', ...omitted, '5']);
    expect(await positions({ maxBytes: 2000, limit: 3 })).toEqual(['3 without data', '4 without data', '5']);
    expect(await positions({ maxBytes: 2000, after: 1, limit: 2 })).toEqual(['2 without data', '3 without data']);
  });

  it('has the same events as if all of the log were looked at, of one type or of all', async () => {
    let seed = 1;
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    const sizes = [5, 50, 300, 700, 1500, 4000];
    for (let i = 0; i < 60; i++) {
      const text = (random(3) === 0 ? '&' : 'é').repeat(random(sizes[random(6)] ?? 1));
      const attributes = JSON.stringify({ id: String(i), source: '/test', type: random(3) === 0 ? 'a' : 'b' });
      await log.append(newEvent({ id: String(i), attributes, data: `"data":"${text}"` }));
    }
    const all = await log.read(everyEvent);
    const events = { a: all.filter(({ attributes }) => attributes.includes('"type":"a"')), undefined: all };
    for (let i = 0; i < 300; i++) {
      const after = random(2) === 0 ? undefined : random(70);
      const type = random(2) === 0 ? 'a' : undefined;
      const query = { ...QUERY, after, type, limit: 1 + random(40), maxBytes: 500 + random(6000) };
      expect(await readPage(log, query)).toEqual(expected(events[type ?? 'undefined'], query));
    }
  });
});

/** Fills a page as `GET_EVENTS_MAX_BYTES` promises, in the plainest way. */
function expected(all: readonly StoredEvent[], { after, limit, maxBytes, referenceBytes }: PageQuery): StoredEvent[] {
  const events: StoredEvent[] = [];
  let bytes = 0;
  for (const event of after === undefined ? all.toReversed() : all.filter(({ position }) => position > after)) {
    const isCut = written(event) > maxBytes;
    const dataOmitted = Buffer.byteLength(event.data ?? '');
    const shown: StoredEvent = isCut ? { ...event, data: undefined, dataOmitted } : event;
    bytes += written(shown) + (isCut ? referenceBytes : 0);
    if (events.length === limit || bytes > maxBytes) break;
    events.push(shown);
  }
  return after === undefined ? events.reverse() : events;
}
