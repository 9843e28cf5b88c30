import { setImmediate } from 'node:timers/promises';
import { Deferred, Semaphore, within } from '../../src/util/promises';

it('of tasks two run at once, and the others begin in their order, also after one that failed', async () => {
  const semaphore = new Semaphore(2);
  const ends = Array.from({ length: 5 }, () => new Deferred());
  const begun: number[] = [];
  const tasks = ends.map(({ promise }, i) => semaphore.run(() => (begun.push(i), promise)));
  ends[1]?.reject(new Error('failed'));
  await expect(tasks[1]).rejects.toThrow('failed');
  await setImmediate();
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  await Promise.all(tasks.toSpliced(1, 1));
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

it('a time limit ends with its promise', async () => {
  jest.useFakeTimers();
  expect(await within(Promise.resolve(1), 1000, () => new Error('too late'))).toBe(1);
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});
