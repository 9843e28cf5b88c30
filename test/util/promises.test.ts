import { Deferred, Semaphore } from '../../src/util/promises';

it('tasks that wait for a place begin in their order, also after one that fails', async () => {
  const semaphore = new Semaphore(1);
  const begun: number[] = [];
  const [first, ...others] = Array.from({ length: 4 }, (_, i) => {
    const task = new Deferred();
    return { task, result: semaphore.run(() => (begun.push(i), task.promise)).catch(String) };
  });
  first?.task.reject('failed');
  for (const { task } of others) task.resolve();
  expect(await first?.result).toBe('failed');
  await Promise.all(others.map(({ result }) => result));
  expect(begun).toEqual([0, 1, 2, 3]);
  await semaphore.run(() => Promise.resolve());
});
