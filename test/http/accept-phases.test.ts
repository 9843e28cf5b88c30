import { setImmediate } from 'node:timers/promises';
import { AcceptPhases } from '../../src/http/request-listener';

describe('calls while connections arrive', () => {
  const iterations = async (count: number) => {
    for (let i = 0; i < count; i++) await setImmediate();
  };

  it('wait as long as every iteration brings another connection, and then go on in their order', async () => {
    const phases = new AcceptPhases();
    const made: number[] = [];
    // Ten iterations may take longer than calls wait at most.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    for (let i = 0; i < 10; i++) {
      phases.accepted();
      expect(phases.mustWait).toBe(true);
      phases.defer(() => made.push(i));
      await iterations(1);
    }
    expect(made).toEqual([]);
    clock.mockRestore();
    await iterations(15);
    expect(made).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(phases.mustWait).toBe(false);
  });

  it('do not wait longer than 100 ms, however many connections arrive', async () => {
    const phases = new AcceptPhases();
    const began = performance.now();
    let waited: number | undefined;
    phases.accepted();
    phases.defer(() => (waited = performance.now() - began));
    while (waited === undefined && performance.now() - began < 5000) {
      phases.accepted();
      await iterations(1);
    }
    expect(waited).toBeGreaterThanOrEqual(100);
    expect(waited).toBeLessThan(1000);
  });

  it('take turns with connections, however often callers call', async () => {
    const phases = new AcceptPhases();
    const began = performance.now();
    let last = began;
    let pauses = 0;
    const isEnough = () => pauses === 3 || performance.now() - began > 5000;
    const call = (): void => {
      const now = performance.now();
      if (now - last > 50) pauses++;
      last = now;
      if (!isEnough()) phases.defer(call);
    };
    phases.accepted();
    phases.defer(call);
    while (!isEnough()) {
      phases.accepted();
      await iterations(1);
    }
    expect(pauses).toBe(3);
  });

  it('are made a few at a time, so that each has ended before there are too many', async () => {
    const phases = new AcceptPhases();
    let made = 0;
    let most = 0;
    phases.accepted();
    for (let i = 0; i < 1000; i++) phases.defer(() => made++);
    for (let before = 0; made < 1000; before = made) {
      await iterations(1);
      most = Math.max(most, made - before);
    }
    expect(most).toBeLessThan(200);
  });
});
