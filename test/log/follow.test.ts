import { getEventListeners } from 'node:events';
import { openMemoryLog, MemoryStore } from '../../src/log/memory/event-log';
import type { EventLog } from '../../src/log/event-log';
import { LogChange } from '../../src/log/readable-log';
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

it('a log is followed from a position that it has yet to reach, and is let go of with the iteration', async () => {
  const log = openMemoryLog();
  await log.append(newEvent(), newEvent());
  const watch = log.watch.bind(log);
  const [newest, changed, ended] = [jest.spyOn(log, 'newest'), jest.fn(), jest.fn()];
  jest.spyOn(log, 'watch').mockImplementation((listener) => ended.mockImplementation(watch(listener)));
  const { signal } = new AbortController();
  const following = log.follow({ after: 3 }, signal, changed);
  const page = following.next();
  await eventually('it has looked', () => newest.mock.calls.length > 0);
  for (let i = 0; i < 2; i++) await log.append(newEvent());
  expect((await page).value).toMatchObject([{ position: 4 }]);
  expect(changed).not.toHaveBeenCalled();
  await following.return(undefined);
  expect(ended).toHaveBeenCalledTimes(1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await log.close();
});

describe('a log that is followed', () => {
  const store = new MemoryStore();
  const stop = new AbortController();
  const seen: string[] = [];
  const changes: [LogChange, number, number][] = [];
  let log: EventLog;
  let ended: Promise<void>;
  beforeEach(() => {
    log = openMemoryLog(undefined, store);
  });

  const record = async (...ids: string[]) => {
    for (const id of ids) await log.append(newEvent({ id }));
  };
  const reaches = (...ids: string[]) => eventually(ids.join(), () => JSON.stringify(seen) === JSON.stringify(ids));

  it('is read on after its last event was removed, and when it was put back to an earlier state', async () => {
    await record('a', 'b');
    const earlier = [...store.events];
    ended = (async () => {
      const changed = (...change: [LogChange, number, number]): number => {
        changes.push(change);
        return change[2];
      };
      for await (const page of log.follow({ after: 0 }, stop.signal, changed)) {
        seen.push(...page.map(({ id }) => id));
      }
    })();
    await reaches('a', 'b');
    await record('c', 'd');
    await reaches('a', 'b', 'c', 'd');
    await log.forget([4]);
    await record('e');
    await reaches('a', 'b', 'c', 'd', 'e');
    expect(changes).toEqual([]);

    store.events = earlier;
    store.last = 2;
    await eventually('it notices', () => changes.length === 1);
    await record('f', 'g');
    await reaches('a', 'b', 'c', 'd', 'e', 'f', 'g');
    expect(changes).toEqual([['ends before', 5, 2]]);

    store.events = [3, 4, 5].map((position) => ({ ...newEvent({ id: `other ${String(position)}` }), position }));
    store.last = 5;
    await eventually('it notices', () => changes.length === 2);
    expect(changes[1]).toEqual(['another event', 4, 5]);
    stop.abort();
    await ended;
    await log.close();
  });
});
