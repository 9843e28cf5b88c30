import type { Logger } from '../../src/telemetry/logger';
import { Deferred } from '../../src/util/promises';
import { Supervisor } from '../../src/workers/supervisor';
import type { End, WorkerProcess } from '../../src/workers/worker-process';

/** A worker process that does what a test says. */
class FakeWorker implements WorkerProcess {
  readonly #ready = new Deferred<string>();
  readonly #ended = new Deferred<End>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  readonly #closed = new Deferred();
  readonly closed = this.#closed.promise;
  readonly lastReport = { figures: [], refusals: [] };
  readonly signals: NodeJS.Signals[] = [];
  retired = false;

  constructor(readonly pid: number) {}

  report(): Promise<never> {
    return new Promise(() => undefined);
  }

  retire(): void {
    this.retired = true;
  }

  kill(signal: NodeJS.Signals): void {
    this.signals.push(signal);
    if (signal === 'SIGKILL') this.end(undefined, signal);
  }

  becomeReady(): void {
    this.#ready.resolve(`http://host/${String(this.pid)}`);
  }

  end(code: number | undefined, cause?: string): void {
    this.exit(code, cause);
    this.#closed.resolve();
  }

  /** Ends; what it sent last may still arrive. */
  exit(code: number | undefined, cause = `exit code ${String(code)}`): void {
    this.#ended.resolve({ code, cause });
  }
}

const workers: FakeWorker[] = [];
const events: string[] = [];
const log =
  (event: string) =>
  (...what: unknown[]) =>
    void events.push([event, ...what].join(' '));

const EVENTS: Readonly<Record<string, string>> = {
  'a worker hands over': 'renewed',
  'a worker ended, another one takes its place': 'lost',
  'the workers were not replaced': 'renewal failed',
  'a worker could not start': 'start failed',
  'a worker did not end in time and is killed': 'killed',
};
const write = (fields: Readonly<Record<string, unknown>>, line: string) => {
  log(EVENTS[line] ?? line)(...Object.values(fields));
};
const logger = { info: write, error: write } as unknown as Logger;

/** Makes a supervisor of two workers. */
function make(): Supervisor {
  const fork = () => {
    const worker = new FakeWorker(workers.length);
    workers.push(worker);
    return worker;
  };
  return new Supervisor({ count: 2, fork, logger, ready: log('ready'), ended: log('ended') });
}

function start(): Supervisor {
  const supervisor = make();
  supervisor.start();
  return supervisor;
}

/** Lets everything happen that waits for nothing, and some time pass. */
const settle = (milliseconds = 0) => jest.advanceTimersByTimeAsync(milliseconds);

async function startReady(): Promise<Supervisor> {
  const supervisor = start();
  for (const worker of workers) worker.becomeReady();
  await settle(5000);
  expect(events.splice(0)).toEqual(['ready http://host/0']);
  return supervisor;
}

beforeEach(() => {
  jest.useFakeTimers();
  workers.length = 0;
  events.length = 0;
});
afterEach(() => jest.useRealTimers());

describe('a supervisor of two workers', () => {
  it('is ready from the first worker that is ready to the stop', async () => {
    const supervisor = start();
    expect(supervisor.isReady).toBe(false);
    workers[1]?.becomeReady();
    await settle();
    expect(supervisor.isReady).toBe(true);
    supervisor.stop();
    expect(supervisor.isReady).toBe(false);
  });

  it('starts none after a stop, as while its log is opened', async () => {
    const supervisor = make();
    supervisor.stop();
    supervisor.start();
    await settle();
    expect(workers.length).toBe(0);
    expect(events).toEqual(['ended 0']);
  });

  it('replaces one after the other, and takes none that hands over for lost', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle();
    expect(workers.length).toBe(3);
    expect(workers[0]?.retired).toBe(false);
    workers[2]?.becomeReady();
    await settle();
    expect(workers.map(({ retired }) => retired)).toEqual([true, false, false, false]);
    workers[0]?.end(0);
    workers[3]?.becomeReady();
    await settle();
    workers[1]?.end(0);
    await settle(60_000);
    expect(events).toEqual(['renewed 0', 'renewed 1']);
    expect(workers.length).toBe(4);
  });

  it('starts one worker in place of an old one that dies while its successor starts', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle();
    workers[0]?.end(undefined, 'SIGKILL');
    await settle(2000);
    expect(workers.length).toBe(3);
    workers[2]?.becomeReady();
    await settle();
    workers[3]?.becomeReady();
    await settle();
    expect(events).toEqual(['lost 0 SIGKILL', 'renewed 1']);
    expect(workers.length).toBe(4);
  });

  it('keeps the old workers if a new one cannot start, and replaces them when asked again', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle();
    workers[2]?.end(1);
    await settle(10_000);
    expect(events.splice(0)).toEqual(['renewal failed exit code 1']);
    expect(workers.length).toBe(3);
    void supervisor.renew();
    await settle();
    workers[3]?.becomeReady();
    await settle();
    workers[4]?.becomeReady();
    await settle();
    expect(events).toEqual(['renewed 0', 'renewed 1']);
  });

  it('replaces a worker if it dies with its successor', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle();
    workers[0]?.end(undefined, 'SIGKILL');
    workers[2]?.end(undefined, 'no process could be started');
    await settle(2000);
    expect(workers.length).toBe(5);
    for (const worker of workers) worker.becomeReady();
    await settle();
    expect(supervisor.isReady).toBe(true);
    expect(events.filter((event) => event.startsWith('lost')).length).toBe(2);
  });

  it('kills a new worker that does not become ready in a minute', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle(60_000);
    expect(events).toEqual(['killed 2', 'renewal failed SIGKILL']);
    expect(workers[0]?.retired).toBe(false);
  });

  it('kills an old worker that does not end in half a minute', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle();
    workers[2]?.becomeReady();
    await settle(30_000);
    expect(events).toEqual(['renewed 0', 'killed 0']);
  });

  it('renews once more after a renewal, however often it is asked meanwhile', async () => {
    const supervisor = await startReady();
    for (let i = 0; i < 5; i++) void supervisor.renew();
    for (let i = 2; i < 10; i++) {
      await settle();
      workers[i]?.becomeReady();
    }
    await settle(1000);
    expect(events.filter((event) => event.startsWith('renewed')).length).toBe(4);
    expect(workers.length).toBe(6);
  });

  it('replaces all workers that die at once, after a pause if they lived shortly', async () => {
    const supervisor = await startReady();
    for (const worker of workers) worker.end(undefined, 'SIGKILL');
    await settle();
    expect(supervisor.isReady).toBe(false);
    expect(workers.length).toBe(4);
    workers[2]?.end(1);
    workers[3]?.end(1);
    await settle(900);
    expect(workers.length).toBe(4);
    await settle(200);
    expect(workers.length).toBe(6);
    workers[4]?.becomeReady();
    await settle();
    expect(supervisor.isReady).toBe(true);
  });

  it('ends with the exit code of the first worker that cannot start', async () => {
    start();
    workers[1]?.end(7);
    await settle();
    expect(events).toEqual(['start failed exit code 7']);
    expect(workers[0]?.signals).toEqual(['SIGTERM']);
    workers[0]?.end(0);
    await settle(100_000);
    expect(events).toEqual(['start failed exit code 7', 'ended 7']);
  });

  it('ends with exit code 1 if a worker ends with 0 before it is ready', async () => {
    start();
    workers[0]?.end(0);
    await settle();
    workers[1]?.end(0);
    await settle(100_000);
    expect(events).toEqual(['start failed exit code 0', 'ended 1']);
  });

  it('ends with exit code 1 if there is no process for a worker', async () => {
    start();
    for (const worker of workers) worker.end(undefined, 'no process could be started (EAGAIN)');
    await settle();
    expect(events).toEqual(['start failed no process could be started (EAGAIN)', 'ended 1']);
  });

  it('on a stop ends all workers, also old and new ones of a renewal, and starts no other', async () => {
    const supervisor = await startReady();
    void supervisor.renew();
    await settle();
    workers[2]?.becomeReady();
    await settle();
    events.length = 0;
    supervisor.stop();
    supervisor.stop();
    void supervisor.renew();
    expect(workers.map(({ signals }) => signals)).toEqual(Array(4).fill(['SIGTERM']));
    workers[3]?.becomeReady();
    for (const worker of workers) worker.end(0);
    await settle(100_000);
    expect(events).toEqual(['ended 0']);
    expect(workers.length).toBe(4);
  });

  it('on a stop ends once what the last worker sent has arrived', async () => {
    const supervisor = await startReady();
    supervisor.stop();
    workers[0]?.end(0);
    workers[1]?.exit(0);
    await settle(100_000);
    expect(events).toEqual([]);
    workers[1]?.end(0);
    await settle();
    expect(events).toEqual(['ended 0']);
  });

  it('on a stop starts none in place of one that has just died', async () => {
    const supervisor = start();
    workers[0]?.becomeReady();
    await settle();
    workers[1]?.end(1);
    await settle();
    supervisor.stop();
    workers[0]?.end(0);
    await settle(10_000);
    expect(events).toEqual(['ready http://host/0', 'lost 1 exit code 1', 'ended 0']);
    expect(workers.length).toBe(2);
  });

  it('on a stop kills a worker that does not end in 15 seconds', async () => {
    const supervisor = await startReady();
    supervisor.stop();
    workers[0]?.end(0);
    await settle(15_000);
    expect(events).toEqual(['killed 1', 'ended 0']);
  });
});
