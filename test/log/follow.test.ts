import { getEventListeners } from 'node:events';
import { openMemoryLog, MemoryStore } from '../../src/log/memory/event-log';
import { LogChange, type OnLogChange } from '../../src/log/readable-log';
import { within } from '../../src/util/promises';
import { eventually } from '../support/eventually';
import { newEvent } from '../support/events';

it('a log may be the one in which an event was seen if that is there, or may have been removed', async () => {
  const log = openMemoryLog();
  const seen = { id: 'b', recordedAt: 5 };
  await log.append(newEvent({ id: 'a' }), newEvent(seen), newEvent({ id: 'c' }));
  const at = (position: number, event = seen) => LogChange.at(log, position, event);
  const changes = await Promise.all([at(2), at(2, { ...seen, id: 'c' }), at(2, { ...seen, recordedAt: 6 }), at(4)]);
  expect(changes).toEqual([undefined, 'another event', 'another event', 'ends before']);
  await log.forget([2, 3]);
  expect(await Promise.all([at(2), at(3)])).toEqual([undefined, undefined]);
  await log.close();
});

it('a log is followed from a position that it has yet to reach, until it ends before, and is let go of with the iteration', async () => {
  const store = new MemoryStore();
  const log = openMemoryLog(undefined, store);
  await log.append(newEvent(), newEvent());
  const watch = log.watch.bind(log);
  const [newest, changed, ended] = [jest.spyOn(log, 'newest'), jest.fn(() => 2), jest.fn()];
  const [begin, end] = [jest.spyOn(globalThis, 'setInterval'), jest.spyOn(globalThis, 'clearInterval')];
  jest.spyOn(log, 'watch').mockImplementation((listener) => ended.mockImplementation(watch(listener)));
  const { signal } = new AbortController();
  const following = log.follow({ after: 3 }, signal, changed);
  const page = following.next();
  await eventually('it has looked', () => newest.mock.calls.length > 0);
  newest.mockClear();
  await log.append(newEvent());
  await eventually('it has looked again', () => newest.mock.calls.length > 0);
  expect(changed).not.toHaveBeenCalled();
  Object.assign(store, { events: store.events.slice(0, 2), last: 2 });
  await eventually('it notices', () => changed.mock.calls.length > 0);
  await log.append(newEvent({ id: 'other' }));
  expect((await page).value).toMatchObject([{ position: 3, id: 'other' }]);
  await following.return(undefined);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(end.mock.calls).toEqual(begin.mock.results.map(({ value }) => [value as unknown]));
  expect(begin).toHaveBeenCalledTimes(1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await log.close();
});

it('a log that is followed is read at once if an event is recorded, or left if it is stopped, while it is looked at', async () => {
  const log = openMemoryLog();
  const [stop, watch, scan] = [new AbortController(), jest.spyOn(log, 'watch'), log.scan.bind(log)];
  watch.mockReturnValue(() => undefined);
  const wake = () => watch.mock.lastCall?.[0](1);
  const looks = jest.spyOn(log, 'scan').mockImplementationOnce(async (query) => {
    const page = await scan(query);
    await log.append(newEvent());
    wake();
    return page;
  });
  const following = log.follow({ after: 0 }, stop.signal, () => 0);
  const next = () => within(following.next(), 1000, () => new Error('it waits'));
  expect((await next()).value).toHaveLength(1);
  wake();
  looks.mockImplementationOnce(scan).mockImplementationOnce((query) => {
    stop.abort();
    return scan(query);
  });
  expect((await next()).done).toBe(true);
  await log.close();
});

it('a log that is followed is read on after its last event was removed, and when it was put back to an earlier state', async () => {
  const store = new MemoryStore();
  const log = openMemoryLog(undefined, store);
  const record = async (...ids: string[]) => {
    for (const id of ids) await log.append(newEvent({ id }));
  };
  const seen: string[] = [];
  const reaches = (ids: string) => eventually(ids, () => seen.join('') === ids);
  const [stop, changed] = [
    new AbortController(),
    jest.fn<number, Parameters<OnLogChange>>((_change, _position, newest) => newest),
  ];
  await record('a', 'b');
  const earlier = [...store.events];
  const ended = (async () => {
    for await (const page of log.follow({ after: 0 }, stop.signal, changed)) seen.push(...page.map(({ id }) => id));
  })();
  await reaches('ab');
  await record('c', 'd');
  await reaches('abcd');
  await log.forget([4]);
  await record('e');
  await reaches('abcde');
  expect(changed).not.toHaveBeenCalled();

  Object.assign(store, { events: earlier, last: 2 });
  await eventually('it notices', () => changed.mock.calls.length === 1);
  await record('f', 'g');
  await reaches('abcdefg');

  store.events = [3, 4, 5].map((position) => ({ ...newEvent({ id: `other ${String(position)}` }), position }));
  store.last = 5;
  await eventually('it notices', () => changed.mock.calls.length === 2);
  expect(changed.mock.calls).toEqual([
    ['ends before', 5, 2],
    ['another event', 4, 5],
  ]);
  stop.abort();
  await ended;
  await log.close();
});
