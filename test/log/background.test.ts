import { LogWatch } from '../../src/log/background';

describe('the looks of a watch', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('follow each other until it ends, also after one that failed', async () => {
    const answers = [1, 1, new Error('locked'), 3];
    const told: number[] = [];
    const look = jest.fn(() => {
      const answer = answers.shift() ?? 4;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const watch = new LogWatch({ newest: look, watchPause: 50 }, (newest) => told.push(newest));
    await jest.advanceTimersByTimeAsync(1000);
    expect(told).toEqual([1, 3, 4]);
    watch.end();
    const looks = look.mock.calls.length;
    expect(looks).toBeGreaterThan(10);
    await jest.advanceTimersByTimeAsync(1000);
    expect(look).toHaveBeenCalledTimes(looks);
  });

  it('tell nothing that is older than what was told meanwhile', async () => {
    const told: number[] = [];
    let answer: (newest: number) => void = () => undefined;
    const newest = () => new Promise<number>((resolve) => (answer = resolve));
    const watch = new LogWatch({ newest, watchPause: 50 }, (position) => told.push(position));
    watch.tell(5);
    answer(3);
    await jest.advanceTimersByTimeAsync(50);
    answer(5);
    await jest.advanceTimersByTimeAsync(50);
    answer(6);
    await jest.advanceTimersByTimeAsync(50);
    expect(told).toEqual([5, 6]);
    watch.end();
  });

  it('do not pile up while the database takes its time, and say nothing once it has ended', async () => {
    const told: number[] = [];
    let answer: (newest: number) => void = () => undefined;
    const look = jest.fn(() => new Promise<number>((resolve) => (answer = resolve)));
    const watch = new LogWatch({ newest: look, watchPause: 50 }, (newest) => told.push(newest));
    await jest.advanceTimersByTimeAsync(1000);
    expect(look).toHaveBeenCalledTimes(1);
    watch.end();
    answer(1);
    await jest.advanceTimersByTimeAsync(1000);
    expect(look).toHaveBeenCalledTimes(1);
    expect(told).toEqual([]);
  });
});
