import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { forkWorker } from '../../src/workers/worker-process';

/** A worker whose process a test plays. */
function fakeWorker() {
  const send = jest.fn();
  const child = Object.assign(new EventEmitter(), { pid: 1, send });
  const forked = Object.assign(new EventEmitter(), { process: child, isConnected: () => true });
  const gone = jest.fn();
  const fork = jest.spyOn(cluster, 'fork').mockReturnValue(forked as unknown as Worker);
  const worker = forkWorker({}, (closed) => {
    void closed.then(gone);
    return {};
  });
  fork.mockRestore();
  return { worker, forked, child, send, gone };
}

it('a worker is over once its process has closed: Node may never say that one which was killed disconnected', async () => {
  const { worker, forked, child, gone } = fakeWorker();
  forked.emit('exit', null, 'SIGTERM');
  expect(await worker.ended).toEqual({ code: undefined, cause: 'SIGTERM' });
  await new Promise(setImmediate);
  expect(gone).not.toHaveBeenCalled();
  child.emit('close', null, 'SIGTERM');
  await worker.closed;
  expect(gone).toHaveBeenCalledTimes(1);
});

describe('the report of a worker', () => {
  it('is never one that was asked for before: it may say that the log takes events when it no longer does', async () => {
    const { worker, forked, send } = fakeWorker();
    const asked = () => send.mock.calls.map(([message]) => message as { question: number; name: string });
    const answer = (ready: number): Promise<void> => {
      const result = { figures: [{ name: 'webhook_ready', values: [ready] }], refusals: [] };
      forked.emit('message', { answers: asked().at(-1)?.question, result });
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
    expect(asked().map(({ name }) => name)).toEqual(['report', 'report']);
    expect(worker.lastReport.figures[0]?.values[0]).toBe(0);
  });

  it('can be had of one that was asked before it was ready', async () => {
    const { worker, forked } = fakeWorker();
    const [early, next] = [worker.report(), worker.report()];
    forked.emit('message', { answers: 0, failure: 'there is no function report yet' });
    await expect(early).rejects.toThrow('there is no function report yet');
    await new Promise(setImmediate);
    forked.emit('message', { answers: 1, result: { figures: [], refusals: [] } });
    expect(await next).toEqual({ figures: [], refusals: [] });
  });

  it('is kept if it is the last', async () => {
    const { worker, forked } = fakeWorker();
    const last = { figures: [], refusals: [], refusalCounts: [] };
    forked.emit('message', { question: 0, name: 'leave', argument: last });
    await new Promise(setImmediate);
    expect(worker.lastReport).toBe(last);
  });
});

it('takes no notice of messages of another build in another form', async () => {
  const { worker, forked, send } = fakeWorker();
  for (const message of ['refusals of all', { ready: 'http://host/' }, { log: { call: 0 } }, null])
    forked.emit('message', message);
  await new Promise(setImmediate);
  expect(send).not.toHaveBeenCalled();
  forked.emit('message', { name: 'ready', argument: 'http://host/' });
  expect(await worker.ready).toBe('http://host/');
});
