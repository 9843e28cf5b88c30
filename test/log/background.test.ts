import { setTimeout } from 'node:timers/promises';
import { forgetDue, LogWatch, watchFiles } from '../../src/log/background';
import { eventually } from '../support/eventually';

describe('the looks of a watch', () => {
  it('follow each other until it ends, also after one that failed', async () => {
    // A log that is restored may have fewer.
    const answers = [1, 1, new Error('locked'), 3, 2];
    const told: number[] = [];
    const newest = jest.fn(() => {
      const answer = answers.shift() ?? 4;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const watch = new LogWatch({ newest, watchPause: 1 });
    watch.add((position) => told.push(position));
    await eventually('the looks were told', () => told.at(-1) === 4);
    expect(told).toEqual([1, 3, 2, 4]);
    watch.end();
    newest.mockClear();
    await setTimeout(20);
    expect(newest).not.toHaveBeenCalled();
  });

  it('are shared by all who watch, until the last has left; a later one is told what is known', async () => {
    let position = 0;
    const newest = jest.fn(() => Promise.resolve(position));
    const watch = new LogWatch({ newest, watchPause: 60_000 });
    for (const first of [7, 17]) {
      position = first;
      const told: number[][] = [[], [], [], []];
      const ends: (() => void)[] = [];
      for (const list of told) {
        ends.push(watch.add((one) => list.push(one)));
        await eventually('the first is told', () => told[0]?.length === 1);
      }
      watch.add((one) => told[0]?.push(one))();
      ends.shift()?.();
      position++;
      watch.wake();
      await eventually('they are told', () => told[3]?.length === 2);
      const both = [first, first + 1];
      expect(told).toEqual([[first], both, both, both]);
      expect(newest.mock.calls).toEqual([[], []]);
      newest.mockClear();
      for (const end of ends) end();
    }
  });
});

it('a step of retention that fails is told, unless the log was closed meanwhile', async () => {
  const end = new AbortController();
  const told: unknown[] = [];
  const step = () => {
    if (told.length === 2) end.abort();
    return Promise.reject(new Error('away'));
  };
  await forgetDue(
    { step, busyPause: 1, idlePause: 1 },
    () => ({ maxEvents: 1 }),
    (error) => told.push(error),
    end.signal,
  );
  expect(told).toEqual([new Error('away'), new Error('away')]);
});

it('the steps of retention follow each other soon while they leave more to do, which is told once', async () => {
  const end = new AbortController();
  const more = [true, true, false];
  const told = jest.fn(() => end.abort());
  const steps = { step: () => Promise.resolve(more.shift() ?? false), busyPause: 1, idlePause: 60_000 };
  await forgetDue(steps, () => ({ maxAge: 1 }), told, end.signal);
  expect([more, told.mock.calls]).toEqual([[], [[]]]);
});

it('each loss of the files is told once, and that they are back, but nothing once the log is closed', async () => {
  const looks = ['', 'gone', 'gone', '', '', 'moved', '', 'closed'];
  const told: (string | undefined)[] = [];
  const end = new AbortController();
  const look = () => {
    const problem = looks.shift() ?? '';
    if (looks.length === 0) end.abort();
    return problem === '' ? Promise.resolve() : Promise.reject(new Error(problem));
  };
  await watchFiles(look, (problem) => told.push(problem), end.signal, 1);
  expect(told).toStrictEqual(['gone', undefined, 'moved', undefined]);
});
