import { setTimeout } from 'node:timers/promises';
import { LogWatch, watchFiles } from '../../src/log/background';
import { eventually } from '../support/eventually';

describe('the looks of a watch', () => {
  it('follow each other until it ends, also after one that failed', async () => {
    const answers = [1, 1, new Error('locked'), 3];
    const told: number[] = [];
    const newest = jest.fn(() => {
      const answer = answers.shift() ?? 4;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const watch = new LogWatch({ newest, watchPause: 1 }, (position) => told.push(position));
    await eventually('the looks were told', () => told.at(-1) === 4);
    expect(told).toEqual([1, 3, 4]);
    watch.end();
    newest.mockClear();
    await setTimeout(20);
    expect(newest).not.toHaveBeenCalled();
  });
});

it('each loss of the files is told once, and that they are back', async () => {
  const looks = ['', 'gone', 'gone', '', '', 'moved', ''];
  const told: (string | undefined)[] = [];
  const end = new AbortController();
  const look = () => {
    const problem = looks.shift() ?? '';
    return problem === '' ? Promise.resolve() : Promise.reject(new Error(problem));
  };
  const watched = watchFiles(look, (problem) => told.push(problem), end.signal, 1);
  await eventually('it has looked', () => looks.length === 0);
  end.abort();
  await watched;
  expect(told).toEqual(['gone', undefined, 'moved', undefined]);
});
