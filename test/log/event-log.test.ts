import { setTimeout } from 'node:timers/promises';
import type { NewEvent } from '../../src/events/stored-event';
import { EventTooLargeError, type Appended, type Engine, type LocalSettings } from '../../src/log/engine';
import { EventLog } from '../../src/log/event-log';
import type { FoundEvent } from '../../src/log/queries';
import { Deferred } from '../../src/util/promises';
import { EVERY_EVENT, newEvent } from '../support/events';
import { watching } from '../support/watching';

const logs: EventLog[] = [];
const logOn = (engine: Partial<Engine>, settings: LocalSettings = {}) => {
  const log = new EventLog({ readsAtOnce: 1, close: () => Promise.resolve(), ...engine } as Engine, settings);
  logs.push(log);
  return log;
};
afterEach(() => Promise.all(logs.splice(0).map((log) => log.close())));
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('asks the engine for few answers at once, since each may be large', async () => {
  const answers: Deferred<never[]>[] = [];
  const ask = () => {
    const answer = new Deferred<never[]>();
    answers.push(answer);
    return answer.promise;
  };
  const log = logOn({ readsAtOnce: 3, read: ask });
  const settled = Promise.allSettled(Array.from({ length: 20 }, () => log.read(EVERY_EVENT)));
  await turn();
  expect(answers).toHaveLength(3);

  // As each ends, well or not, the one that has waited longest begins.
  for (let i = 0; i < 20; i++) {
    if (i % 2 === 0) answers[i]?.resolve([]);
    else answers[i]?.reject(new Error('damaged'));
    await turn();
    expect(answers).toHaveLength(Math.min(20, i + 1 + 3));
  }
  expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(answers.map((_, i) => i % 2 === 0));
});

it('lets other calls run between two answers of many bytes', async () => {
  const order: string[] = [];
  const event = { ...newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }), position: 1 };
  const log = logOn({ read: () => turn().then(() => [event]) });
  const answer = async () => {
    await log.read(EVERY_EVENT);
    order.push('answer');
    setImmediate(() => order.push('other call'));
  };
  await Promise.all([answer(), answer(), answer()]);
  expect(order.slice(0, 4)).toEqual(['answer', 'other call', 'answer', 'other call']);
});

it('asks the engine for the event at a position as that between its neighbours', async () => {
  const read = jest.fn(() => Promise.resolve([]));
  const log = logOn({ read });
  await log.read({ position: 5, id: 'a', limit: 1 });
  await log.read({ position: 5, after: 7, before: 9, limit: 1 });
  expect(read.mock.calls).toEqual([[{ id: 'a', after: 4, before: 6, limit: 1 }], [{ after: 7, before: 6, limit: 1 }]]);
});

it.each([
  ['each of them', {}, 14],
  ['their data', { data: 'x'.repeat(10_000) }, 2],
  ['their attributes', { attributes: 'x'.repeat(10_000) }, 2],
  ['their arrival', { arrival: 'x'.repeat(10_000) }, 2],
])('counts events when calls share a commit, with %s', async (_what, event, expected) => {
  const append = jest.fn(async (events: readonly NewEvent[]): Promise<Appended[]> => {
    await turn();
    return events.map(({ id }) => ({ id, recorded: true }));
  });
  const log = logOn({ commitSize: 30_000, append });
  await Promise.all(Array.from({ length: 15 }, () => log.append(newEvent(event))));
  expect(append.mock.calls[0]?.[0]).toHaveLength(expected);
});

it('a check asks for room for the events of the last failed commit, also of one that failed during a check', async () => {
  const asked: number[] = [];
  const checks = [new Deferred(), new Deferred(), new Deferred()];
  const log = logOn({
    append: (events) => (events.length === 3 ? Promise.resolve([]) : Promise.reject(new Error('full'))),
    check: (failed) => {
      asked.push(failed.length);
      return checks[asked.length - 1]?.promise ?? Promise.resolve();
    },
  });
  await expect(log.append(newEvent())).rejects.toThrow();
  const first = log.check();
  await turn();
  await expect(log.append(newEvent(), newEvent())).rejects.toThrow();
  for (const check of checks) check.resolve();
  await first;
  await log.check();
  await log.check();
  await expect(log.append(newEvent())).rejects.toThrow();
  await log.append(newEvent(), newEvent(), newEvent());
  await log.check();
  expect(asked).toEqual([1, 2, 0, 0]);
});

it.each([
  { place: {}, found: [9, 8, 7], reached: 7 },
  { place: { after: 0 }, found: [3, 2, 1], reached: 3 },
])('shows no more than asked for after a search in several steps ($place)', async ({ place, found, reached }) => {
  const log = logOn({
    search: ({ after, before = 10, limit }) => {
      const positions = after === undefined ? [before - 1, before - 2] : [after + 1, after + 2];
      const some = positions.slice(0, limit);
      const events = some.map((position) => ({ position }) as FoundEvent);
      return Promise.resolve({
        events: after === undefined ? events : events.reverse(),
        reached: { position: some.at(-1) ?? 0, recordedAt: 0 },
        more: true,
      });
    },
  });
  const result = await log.search({ limit: 3, ...place });
  expect(result.events.map(({ position }) => position)).toEqual(found);
  expect(result).toMatchObject({ reached: { position: reached }, more: true });
});

it('ends a search after half a second, and says how far it came, also if its last step came no further', async () => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 200));
  const log = logOn({
    search({ before: position = 9 }) {
      const more = --position > 3;
      return Promise.resolve({ events: [], reached: more ? { position, recordedAt: 0 } : undefined, more });
    },
  });
  expect(await log.search({ limit: 1 })).toMatchObject({ reached: { position: 6 }, more: true });
  expect(await log.search({ limit: 1, before: 5 })).toMatchObject({ reached: { position: 4 }, more: false });
});

it('a log takes one step of a search at a time, and those of several searches in turns', async () => {
  const steps: string[] = [];
  let running = 0;
  const log = logOn({
    search: async ({ text = '', before }) => {
      steps.push(`${text}${String(++running)}`);
      await turn();
      running--;
      return { events: [], reached: { position: 1, recordedAt: 0 }, more: before === undefined };
    },
  });
  await Promise.all(['a', 'b'].map((text) => log.search({ text, limit: 1 })));
  expect(steps).toEqual(['a1', 'b1', 'a1', 'b1']);
});

it('forgets nothing if another process is to, and says why it could not', async () => {
  const [step, retained] = [jest.fn(() => Promise.reject(new Error('locked'))), jest.fn()];
  const engine = { retention: { step, busyPause: 1, idlePause: 60_000 } };
  for (const forgets of [true, false]) logOn(engine, { retention: { maxEvents: 1 }, forgets }).observe({ retained });
  await turn();
  expect([step.mock.calls.length, retained.mock.calls]).toEqual([1, [[new Error('locked')]]]);
});

it.each([{ after: 1 }, { before: 9 }])('a log reads on past pages with damaged events alone: %j', async (place) => {
  const event = (position: number) => ({ ...newEvent(position === 5 ? {} : { data: '"data":{' }), position });
  const log = logOn({
    read: ({ after, before = 9 }) => Promise.resolve([event(after === undefined ? before - 1 : after + 1)]),
  });
  expect(await log.read({ ...place, limit: 1 })).toMatchObject([{ position: 5 }]);
});

it('a log says that an event is larger than its engine takes', async () => {
  const log = logOn({ append: () => Promise.reject(new EventTooLargeError('id', 2, 1)) });
  await expect(log.append(newEvent())).rejects.toThrow(EventTooLargeError);
});

it('looks at once for what it has recorded itself', async () => {
  let newest = 0;
  const log = logOn({
    watchPause: 60_000,
    async newest() {
      const found = newest;
      if (found === 3) await log.append(newEvent());
      return found;
    },
    append: () => Promise.resolve([{ id: String(++newest), recorded: true }]),
  });
  const watch = watching(log);
  await watch.reaches(0);
  for (let i = 1; i <= 3; i++) {
    await log.append(newEvent());
    await watch.reaches(i);
  }
  // Recorded while it looked.
  await watch.reaches(4);
});

it.each([
  [0, 1],
  [1, 0],
])('records nothing before all readers who asked know the newest position (%i first)', async (one, other) => {
  const [answers, append] = [[new Deferred<number>(), new Deferred<number>()], jest.fn(() => Promise.resolve([]))];
  const left = [...answers];
  const log = logOn({ newest: () => left.shift()?.promise ?? Promise.resolve(0), append });
  const known = [log.newestFromNow(), log.newestFromNow()].map((one) => one.catch(({ message }: Error) => message));
  answers[one]?.resolve(7);
  await turn();
  const appended = log.append(newEvent());
  await turn();
  expect(append).not.toHaveBeenCalled();
  answers[other]?.reject(new Error('away'));
  expect(await appended).toEqual([]);
  expect([await known[one], await known[other]]).toEqual([7, 'The events could not be read.']);
});

it('closes the engine once the last call has ended, and looks at it no more', async () => {
  const answer = new Deferred<never[]>();
  const close = jest.fn(() => Promise.resolve());
  const newest = jest.fn(() => Promise.resolve(1));
  const [files, lost] = [new Deferred(), jest.fn()];
  const looks = { newest, watchPause: 1, verifyFiles: () => files.promise };
  const log = logOn({ read: () => answer.promise, counts: () => Promise.resolve([]), close, ...looks });
  log.observe({ lost });
  await watching(log).reaches(1);
  const calls = [log.read(EVERY_EVENT), log.counts([])];
  const closed = log.close();
  await turn();
  expect(close).not.toHaveBeenCalled();
  answer.resolve([]);
  await Promise.all([...calls, closed, log.close()]);
  watching(log);
  newest.mockClear();
  files.reject(new Error('gone'));
  await setTimeout(20);
  for (const look of [newest, lost]) expect(look).not.toHaveBeenCalled();
  expect(close).toHaveBeenCalledTimes(1);
});
