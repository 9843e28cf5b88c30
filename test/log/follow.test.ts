import { openMemoryLog, MemoryStore } from '../../src/log/memory/event-log';
import type { EventLog } from '../../src/log/event-log';
import type { LogChange } from '../../src/log/readable-log';
import { eventually } from '../support/eventually';
import { newEvent } from '../support/events';

describe('a log that is followed', () => {
  const store = new MemoryStore();
  const stop = new AbortController();
  const seen: string[] = [];
  const changes: [LogChange, number, number][] = [];
  let log: EventLog;
  let ended: Promise<void>;
  beforeEach(() => {
    log = openMemoryLog(store);
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
