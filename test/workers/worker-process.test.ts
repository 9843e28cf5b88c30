import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { forkWorker } from '../../src/workers/worker-process';

/** A worker whose process a test plays. */
function fakeWorker() {
  const send = jest.fn();
  const child = Object.assign(new EventEmitter(), { pid: 1, send });
  const forked = Object.assign(new EventEmitter(), { process: child, isConnected: () => true });
  const fork = jest.spyOn(cluster, 'fork').mockReturnValue(forked as unknown as Worker);
  const worker = forkWorker({});
  fork.mockRestore();
  return { worker, forked, child, send };
}

it('a worker is over once its process has closed: Node may never say that one which was killed disconnected', async () => {
  const { worker, forked, child } = fakeWorker();
  const closed = jest.fn();
  worker.log.onClose(closed);
  forked.emit('exit', null, 'SIGTERM');
  expect(await worker.ended).toEqual({ code: undefined, cause: 'SIGTERM' });
  await new Promise(setImmediate);
  expect(closed).not.toHaveBeenCalled();
  child.emit('close', null, 'SIGTERM');
  await worker.closed;
  expect(closed).toHaveBeenCalledTimes(1);
});

describe('the report of a worker', () => {
  it('is never one that was asked for before: it may say that the log takes events when it no longer does', async () => {
    const { worker, forked, send } = fakeWorker();
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
