import type { Engine } from '../../src/log/engine';
import { EventLog } from '../../src/log/event-log';
import { Deferred } from '../../src/util/promises';
import { everyEvent, newEvent } from '../support/events';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it.each(['read', 'scan'] as const)(
  '%s asks the engine for few answers at once, since each may be large',
  async (what) => {
    const answers: Deferred<never[]>[] = [];
    const ask = () => {
      const answer = new Deferred<never[]>();
      answers.push(answer);
      return answer.promise;
    };
    const engine: Partial<Engine> = { readsAtOnce: 3, read: ask, close: () => Promise.resolve() };
    const log = new EventLog(engine as Engine);
    const calls = Array.from({ length: 50 }, () =>
      what === 'read' ? log.read(everyEvent) : log.scan({ after: 0, limit: 1 }),
    );
    const settled = Promise.allSettled(calls);
    await turn();
    expect(answers).toHaveLength(3);

    // As each ends, well or not, the one that has waited longest begins.
    for (let i = 0; i < calls.length; i++) {
      if (i % 2 === 0) answers[i]?.resolve([]);
      else answers[i]?.reject(new Error('damaged'));
      await turn();
      expect(answers).toHaveLength(Math.min(calls.length, i + 1 + 3));
    }
    expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(calls.map((_, i) => i % 2 === 0));
    await log.close();
  },
);

it('lets other calls run after an answer of many bytes, before the next is read', async () => {
  const order: string[] = [];
  const event = { ...newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }), position: 1 };
  const engine: Partial<Engine> = {
    readsAtOnce: 1,
    read: () => {
      order.push('read');
      return Promise.resolve([event]);
    },
    close: () => Promise.resolve(),
  };
  const log = new EventLog(engine as Engine);
  const answer = () => log.read(everyEvent).then(() => order.push('answer'));
  const both = [answer(), answer()];
  setImmediate(() => order.push('other call'));
  await Promise.all(both);
  expect(order).toEqual(['read', 'answer', 'other call', 'read', 'answer']);
  await log.close();
});
