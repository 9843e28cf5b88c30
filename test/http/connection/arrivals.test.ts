import { setImmediate } from 'node:timers/promises';
import { Arrivals } from '../../../src/http/connection/arrivals';

describe('calls while connections arrive', () => {
  const turns = async (count: number) => {
    for (let i = 0; i < count; i++) await setImmediate();
  };

  it('wait as long as every turn brings another connection, and then go on in their order', async () => {
    const arrivals = new Arrivals();
    const made: number[] = [];
    for (let i = 0; i < 10; i++) {
      arrivals.accepted();
      expect(arrivals.isGoingOn).toBe(true);
      arrivals.wait(() => made.push(i));
      await turns(1);
    }
    expect(made).toEqual([]);
    await turns(10);
    expect(made).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(arrivals.isGoingOn).toBe(false);
  });

  it('do not wait longer than 100 ms, however many connections arrive', async () => {
    const arrivals = new Arrivals();
    const began = performance.now();
    let waited: number | undefined;
    arrivals.accepted();
    arrivals.wait(() => (waited = performance.now() - began));
    while (waited === undefined && performance.now() - began < 5000) {
      arrivals.accepted();
      await turns(1);
    }
    expect(waited).toBeGreaterThanOrEqual(100);
    expect(waited).toBeLessThan(1000);
  });

  it('take turns with connections, however often callers call', async () => {
    const arrivals = new Arrivals();
    const began = performance.now();
    let last = began;
    let pauses = 0;
    const isEnough = () => pauses === 3 || performance.now() - began > 5000;
    const call = (): void => {
      const now = performance.now();
      if (now - last > 50) pauses++;
      last = now;
      if (!isEnough()) arrivals.wait(call);
    };
    arrivals.accepted();
    arrivals.wait(call);
    while (!isEnough()) {
      arrivals.accepted();
      await turns(1);
    }
    expect(pauses).toBe(3);
  });

  it('are made a few at a time, so that each has ended before there are too many', async () => {
    const arrivals = new Arrivals();
    let made = 0;
    let most = 0;
    arrivals.accepted();
    for (let i = 0; i < 1000; i++) arrivals.wait(() => made++);
    for (let before = 0; made < 1000; before = made) {
      await turns(1);
      most = Math.max(most, made - before);
    }
    expect(most).toBeLessThan(200);
  });
});
