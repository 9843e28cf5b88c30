import type { LogEngine } from '../../src/log/engine';
import { EngineLog } from '../../src/log/engine-log';
import { deferred, type Deferred } from '../../src/util/promises';
import { EVERYTHING } from './event-log-suite';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it.each(['read', 'scan'] as const)(
  '%s asks the engine for few answers at once, since each may be large',
  async (what) => {
    const answers: Deferred<never[]>[] = [];
    const ask = () => {
      const answer = deferred<never[]>();
      answers.push(answer);
      return answer.promise;
    };
    const engine: Partial<LogEngine> = { read: ask, scan: ask, close: () => Promise.resolve() };
    const log = new EngineLog(engine as LogEngine);
    const calls = Array.from({ length: 50 }, () =>
      what === 'read' ? log.read(EVERYTHING) : log.scan({ after: 0n, limit: 1 }),
    );
    const settled = Promise.allSettled(calls);
    await turn();
    const atOnce = answers.length;
    expect(atOnce).toBeLessThanOrEqual(8);

    // As each ends, well or not, the one that has waited longest begins.
    for (let i = 0; i < calls.length; i++) {
      if (i % 2 === 0) answers[i]?.resolve([]);
      else answers[i]?.reject(new Error('damaged'));
      await turn();
      expect(answers).toHaveLength(Math.min(calls.length, i + 1 + atOnce));
    }
    expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(calls.map((_, i) => i % 2 === 0));
    await log.close();
  },
);
