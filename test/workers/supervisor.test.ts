import { setImmediate } from 'node:timers/promises';
import { ServiceManager } from '../../src/config/service-manager';
import { Deferred } from '../../src/util/promises';
import { lostFiles, Supervisor } from '../../src/workers/supervisor';
import type { End, WorkerProcess } from '../../src/workers/worker';
import { eventually } from '../support/eventually';

class FakeWorker implements Pick<WorkerProcess, 'ready' | 'ended' | 'pid' | 'retire' | 'stop' | 'kill'> {
  readonly #ready = new Deferred<string>();
  readonly #ended = new Deferred<End>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  readonly forked = performance.now();
  readonly pid = 1;
  readonly asked: string[] = [];
  /** Whether only a signal ends it. */
  hangs = false;

  answer(): void {
    this.#ready.resolve('http://127.0.0.1');
  }
  retire(): void {
    this.asked.push('retire');
    if (!this.hangs) this.die();
  }
  stop(): void {
    this.asked.push('stop');
    if (!this.hangs) this.die();
  }
  kill(): void {
    this.asked.push('kill');
    this.die();
  }
  die(): void {
    this.#ended.resolve({ code: 1, cause: 'exit code 1' });
  }
}

describe('the supervisor', () => {
  let workers: FakeWorker[];
  let supervisor: Supervisor;
  let exits: number[];
  const error = jest.fn();
  const announce = jest.fn();
  afterEach(() => supervisor.stop());
  const begin = (limits: object) => {
    [workers, exits] = [[], []];
    error.mockClear();
    const exit = (code: number) => void exits.push(code);
    const logger = { info: () => undefined, error, exit };
    const fork = () => workers[workers.push(new FakeWorker()) - 1] as FakeWorker;
    const all = { start: 60_000, retire: 60_000, stop: 60_000, shortLife: 10, ...limits };
    supervisor = new Supervisor(2, logger, fork, all);
    return supervisor.start(announce);
  };
  /** Starts two workers, of which the first is ready; the second has been forked. */
  const start = async (limits: object) => {
    const started = begin(limits);
    workers[0]?.answer();
    await started;
  };
  const asked = () => workers.map((worker) => worker.asked);

  it('ends without an error or an address if it is stopped before the first worker is ready', async () => {
    const started = begin({});
    supervisor.stop();
    await started;
    expect([exits, error.mock.calls, announce.mock.calls]).toEqual([[0], [], []]);
  });

  it('kills a worker that is not ready in time, and none that was', async () => {
    await start({ start: 20 });
    await eventually('the second is killed', () => workers[1]?.asked.length === 1);
    expect(asked().slice(0, 2)).toEqual([[], ['kill']]);
  });

  it('waits before it replaces a worker that died at once, before it was ready or after', async () => {
    await start({ shortLife: 100 });
    const died = performance.now();
    workers[0]?.die();
    workers[1]?.die();
    await eventually('both are replaced', () => workers.length === 4);
    for (const { forked } of workers.slice(2)) expect(forked - died).toBeGreaterThan(90);
    expect(exits).toEqual([]);
  });

  it('replaces a worker that was starting when it was to replace all, as it may have read the old keys', async () => {
    await start({});
    const renewed = supervisor.renew();
    workers[2]?.answer();
    await eventually('the first is replaced', () => workers[0]?.asked.length === 1);
    await setImmediate();
    workers[1]?.answer();
    await eventually('another is started after the second', () => workers.length === 4);
    workers[3]?.answer();
    expect(await renewed).toBe(true);
    expect(asked()).toEqual([['retire'], ['retire'], [], []]);
    for (let times = 0; times < 2; times++) supervisor.stop();
    await setImmediate();
    expect([asked().slice(2), error.mock.calls]).toEqual([[['stop'], ['stop']], []]);
  });

  it('kills a worker that goes on though another has its place, or the service stops, and then ends', async () => {
    await start({ retire: 20, stop: 20 });
    for (const worker of workers) worker.hangs = true;
    void supervisor.renew();
    workers[2]?.answer();
    await eventually('the first is killed', () => workers[0]?.asked.length === 2);
    supervisor.stop();
    await eventually('the process ends', () => exits.length > 0);
    expect([asked(), exits]).toEqual([[['retire', 'kill'], ['stop', 'kill'], ['stop']], [0]]);
  });

  it('leaves a worker in its place if the next one cannot start, and says that not all were replaced', async () => {
    await start({});
    const renewed = supervisor.renew();
    workers[2]?.die();
    expect([await renewed, asked()]).toEqual([false, [[], [], []]]);
  });
});

it('of the files of the log, the first loss and the last return are said, also if workers that lost them ended meanwhile', async () => {
  const said: unknown[] = [];
  const lost = lostFiles((problem) => said.push(problem));
  const [dies, lives, next] = [new FakeWorker(), new FakeWorker(), new FakeWorker()];
  const ended = async (worker: FakeWorker) => {
    worker.die();
    await setImmediate();
  };
  lost(dies, 'moved');
  lost(lives, 'moved');
  await ended(dies);
  lost(lives, undefined);
  lost(lives, 'gone');
  await ended(lives);
  lost(next, undefined);
  lost(next, 'replaced');
  await ended(next);
  lost(new FakeWorker(), undefined);
  expect(said).toStrictEqual(['moved', undefined, 'gone', undefined, 'replaced', undefined]);
});

it('SIGHUP reloads once at a time, however often it comes', async () => {
  const reloads: Deferred[] = [];
  const reload = () => (reloads[reloads.push(new Deferred()) - 1] as Deferred).promise;
  const manager = new ServiceManager(() => undefined);
  const notify = jest.spyOn(manager, 'notify');
  manager.onHangUp(reload, () => undefined);
  for (let times = 0; times < 2; times++) process.emit('SIGHUP');
  await setImmediate();
  expect(reloads).toHaveLength(1);
  reloads[0]?.resolve();
  await eventually('it reloads again', () => reloads.length === 2);
  expect(notify.mock.calls.flat()).toEqual(['RELOADING=1', 'RELOADING=1', 'READY=1']);
  process.removeAllListeners('SIGHUP');
});
