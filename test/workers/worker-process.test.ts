import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { forkWorker } from '../../src/workers/worker-process';

describe('the report of a worker', () => {
  it('is never one that was asked for before: it may say that the log takes events when it no longer does', async () => {
    const send = jest.fn();
    const forked = Object.assign(new EventEmitter(), { process: { pid: 1, send }, isConnected: () => true });
    const fork = jest.spyOn(cluster, 'fork').mockReturnValue(forked as unknown as Worker);
    const worker = forkWorker({});
    fork.mockRestore();
    const answer = (ready: number): Promise<void> => {
      forked.emit('message', { report: { figures: [{ name: 'webhook_ready', values: [ready] }], refusals: [] } });
      return new Promise(setImmediate);
    };
    const readyIn = async (report: ReturnType<typeof worker.report>) => (await report).figures[0]?.values[0];
    const first = readyIn(worker.report());
    const later = [readyIn(worker.report()), readyIn(worker.report())];
    expect(send).toHaveBeenCalledTimes(1);
    await answer(1);
    expect(await first).toBe(1);
    expect(send).toHaveBeenCalledTimes(2);
    await answer(0);
    expect(await Promise.all(later)).toEqual([0, 0]);
    expect(send.mock.calls.map(([message]) => message as unknown)).toEqual(['report', 'report']);
  });
});
