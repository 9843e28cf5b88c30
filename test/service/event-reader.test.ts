import { setImmediate } from 'node:timers/promises';
import { sequenceOf, type StoredEvent, wireBytes } from '../../src/events/stored-event';
import type { EventLog } from '../../src/log/event-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import type { EventQuery } from '../../src/log/queries';
import type { Call } from '../../src/service/call';
import { EventReader, readPage, type PageQuery } from '../../src/service/event-reader';
import { Deferred, Semaphore } from '../../src/util/promises';
import { EVERY_EVENT, newEvent } from '../support/events';

const QUERY: PageQuery = { ...EVERY_EVENT, datarefBytes: 100 };

const event = (position: number): StoredEvent => ({ ...newEvent({ id: String(position) }), position });

/** A log of which a test says what it holds and what it tells. A read finds what is there as it begins, and takes its time. */
function fakeLog() {
  const listeners = new Set<(newest: number) => void>();
  const held: number[] = [];
  let delay: Promise<unknown> | undefined;
  let told: number | undefined;
  const read = jest.fn(async ({ after = 0 }: EventQuery) => {
    const found = held.filter((position) => position > after).map(event);
    await (delay ?? setImmediate());
    return found;
  });
  const watch: EventLog['watch'] = (listener) => {
    listeners.add(listener);
    // As a log does, soon after a watch has begun.
    void setImmediate().then(() => {
      if (told !== undefined && listeners.has(listener)) listener(told);
    });
    return () => void listeners.delete(listener);
  };
  return {
    read,
    watch,
    held,
    /** Lets reads that begin from now on take as long as a promise, if one is given. */
    delay(given: Promise<unknown> | undefined) {
      delay = given;
    },
    isWatched: () => listeners.size > 0,
    wholeEventReads: new Semaphore(1),
    async tell(newest: number) {
      told = newest;
      for (const listener of listeners) listener(newest);
      for (let i = 0; i < 5; i++) await setImmediate();
    },
  };
}

const call = {
  reserve: () => undefined,
  whileIdle: (wait: (signal: AbortSignal) => Promise<unknown>) => wait(new AbortController().signal),
} as Partial<Call> as Call;

const MINUTE = 60_000;

describe('a reader that may wait', () => {
  let fake: ReturnType<typeof fakeLog>;
  let reader: EventReader;
  beforeEach(() => {
    fake = fakeLog();
    reader = new EventReader(fake);
  });

  const read = (query: Partial<PageQuery>, milliseconds = MINUTE) =>
    reader.read({ ...QUERY, ...query }, milliseconds, call).then((events) => events.map(({ id }) => id));
  const untilWatched = async () => {
    while (!fake.isWatched()) await setImmediate();
  };

  it('neither waits nor watches the log where there are events, or without time', async () => {
    fake.held.push(1);
    expect(await read({ after: 0 })).toEqual(['1']);
    expect(await read({ after: 1 }, 0)).toEqual([]);
    expect(fake.isWatched()).toBe(false);
  });

  it('waits on, for the rest of the time, where the announced position holds nothing for it, and reads once for each announcement', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const reading = read({ after: 2 });
    await untilWatched();
    await fake.tell(2);
    expect(fake.read).toHaveBeenCalledTimes(1);
    await fake.tell(5);
    await fake.tell(5);
    expect(fake.read).toHaveBeenCalledTimes(2);
    await fake.tell(6);
    expect(fake.read).toHaveBeenCalledTimes(3);
    fake.held.push(7);
    await fake.tell(7);
    expect(await reading).toEqual(['7']);
    expect(fake.read).toHaveBeenCalledTimes(4);
    const waits = timers.mock.calls.flatMap(([, wait = 0]) => (wait > MINUTE / 2 ? [wait] : []));
    expect(new Set(waits).size).toBe(3);
  });

  it('misses no event that is recorded between its read and its wait', async () => {
    const other = read({ after: 9 }, 200);
    await untilWatched();
    const reading = read({ after: 0 });
    // The read has begun, and finds nothing.
    fake.held.push(1);
    await fake.tell(1);
    expect(await reading).toEqual(['1']);
    expect(await other).toEqual([]);
  });

  it('gives the newest of several of a type that are recorded at once, if it was not asked for those after a position', async () => {
    const log = openMemoryLog();
    const watch = jest.spyOn(log, 'watch');
    const reading = new EventReader(log).read({ ...QUERY, after: undefined, type: 't', limit: 2 }, MINUTE, call);
    while (watch.mock.calls.length === 0) await setImmediate();
    await log.append(...['a', 'b', 'c'].map((id) => newEvent({ id, attributes: '{"type":"t"}' })));
    expect((await reading).map(({ id }) => id)).toEqual(['b', 'c']);
    await log.close();
  });

  it('reads once for all who ask for the same after they were told of it, and apart for others', async () => {
    const same = Array.from({ length: 50 }, () => read({ after: 0 }));
    const others = [
      read({ after: 0, limit: 5 }),
      read({ after: 1 }),
      read({ after: 0, datarefBytes: 7 }),
      read({ after: 0, type: 'a' }),
    ];
    await untilWatched();
    while (fake.read.mock.calls.length < 54) await setImmediate();
    await fake.tell(0);
    fake.held.push(1, 2);
    await fake.tell(2);
    for (const ids of await Promise.all(same)) expect(ids).toEqual(['1', '2']);
    expect(await Promise.all(others)).toEqual([['1', '2'], ['2'], ['1', '2'], ['1', '2']]);
    expect(fake.read).toHaveBeenCalledTimes(54 + 5);
  });

  it('reads anew for those who were told of more than those whose read is under way', async () => {
    const slow = new Deferred();
    const first = read({ after: 0 });
    await untilWatched();
    // Nothing stands at this position; looking there takes long.
    fake.delay(slow.promise);
    await fake.tell(5);
    expect(fake.read).toHaveBeenCalledTimes(2);
    fake.delay(undefined);
    const second = read({ after: 0 });
    fake.held.push(6);
    await fake.tell(6);
    expect(await second).toEqual(['6']);
    slow.resolve();
    expect(await first).toEqual(['6']);
  });

  it('reads anew for those who are told after a read has failed, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const first = read({ after: 0 });
    await untilWatched();
    fake.read.mockRejectedValueOnce(new Error('The log is locked.'));
    const refused = expect(first).rejects.toThrow('The log is locked.');
    await fake.tell(1);
    await refused;
    const second = read({ after: 0 });
    await untilWatched();
    fake.held.push(1);
    expect(await second).toEqual(['1']);
    expect(timers()).toBe(before);
  });

  it('gives a page to callers that are woken together one after the other', async () => {
    let made = 0;
    let most = 0;
    const readings = Array.from({ length: 30 }, async () => {
      await read({ after: 0 });
      most = Math.max(most, ++made);
      // Answers are made and sent in steps that follow each other at once.
      for (let step = 0; step < 20; step++) await Promise.resolve();
      made--;
    });
    await untilWatched();
    while (fake.read.mock.calls.length < 30) await setImmediate();
    await fake.tell(0);
    fake.held.push(1);
    await fake.tell(1);
    await Promise.all(readings);
    expect(most).toBe(1);
  });
});

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

  const positions = async (query: Partial<PageQuery>) =>
    (await readPage(log, { ...QUERY, ...query })).map(({ position }) => position);

  it('has as many events as fit, measured as XML text', async () => {
    for (let i = 0; i < 10; i++) await log.append(newEvent({ data: `"data":"${'<'.repeat(100)}"` }));
    const all = await log.read(EVERY_EVENT);
    const maxBytes = all.slice(-3).reduce((sum, event) => sum + written(event), 0);
    expect(await positions({ maxBytes })).toEqual([8, 9, 10]);
    expect(await positions({ maxBytes: maxBytes - 1 })).toEqual([9, 10]);
    expect(await positions({ maxBytes, after: 0 })).toEqual([1, 2, 3]);
  });

  it('has the newest event that was asked for whole, or the first after a position, one answer at a time', async () => {
    const data = `"data":"${'x'.repeat(1000)}"`;
    for (const source of ['/a', '/b']) await log.append(newEvent({ id: 'a', source, data }));
    const isWhole = async (after?: number) => {
      const page = await new EventReader(log).read({ ...QUERY, maxBytes: 600, id: 'a', after }, 0, call);
      return page.map((one) => one.data === data);
    };
    const reads = jest.spyOn(log, 'read');
    const reserved = jest.spyOn(call, 'reserve');
    const place = new Deferred();
    void log.wholeEventReads.run(() => place.promise);
    const waiting = [isWhole(), isWhole(0)];
    for (let i = 0; i < 5; i++) await setImmediate();
    expect(reads).toHaveBeenCalledTimes(2);
    place.resolve();
    expect(await Promise.all(waiting)).toEqual([
      [false, true],
      [true, false],
    ]);
    expect(reserved.mock.calls).toEqual([[data.length], [data.length]]);
  });

  it('has no event that the disk has damaged, also if it was asked for', async () => {
    await log.append(newEvent({ id: 'a', data: '"data":"lost' }));
    expect(await positions({})).toEqual([]);
    expect(await positions({ position: 1 })).toEqual([]);
    expect(await positions({ id: 'a' })).toEqual([]);
    expect(await new EventReader(log).read({ ...QUERY, maxBytes: 1, id: 'a' }, 0, call)).toEqual([]);
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
    const all = await log.read(EVERY_EVENT);
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
function expected(all: readonly StoredEvent[], { after, limit, maxBytes, datarefBytes }: PageQuery): StoredEvent[] {
  const events: StoredEvent[] = [];
  let bytes = 0;
  for (const event of after === undefined ? all.toReversed() : all.filter(({ position }) => position > after)) {
    const isCut = written(event) > maxBytes;
    const dataOmitted = Buffer.byteLength(event.data ?? '');
    const shown: StoredEvent = isCut ? { ...event, data: undefined, dataOmitted } : event;
    bytes += written(shown) + (isCut ? datarefBytes : 0);
    if (events.length === limit || bytes > maxBytes) break;
    events.push(shown);
  }
  return after === undefined ? events.reverse() : events;
}
