import { createServer, type AddressInfo } from 'node:net';
import { serveMetrics, type MetricsServer } from '../../../src/cli/forward/metrics';
import { ForwardProgress } from '../../../src/cli/forward/progress';
import { Target } from '../../../src/forward/target';
import { readConfig } from '../../../src/config/config';
import type { StoredEvent } from '../../../src/events/stored-event';
import type { EventLog } from '../../../src/log/event-log';
import { openMemoryLog } from '../../../src/log/memory/event-log';
import { newEvent } from '../../support/events';
import { send } from '../../support/http';
import { metricsAt } from '../../support/metrics';
import { startTarget, type Target as Receiver } from '../../support/target';

const { limits } = readConfig({});
const ADDRESS = { host: '127.0.0.1', port: 0, limits };
const never = new AbortController().signal;

describe('the figures of a forwarder', () => {
  let log: EventLog;
  let events: StoredEvent[];
  let receiver: Receiver;
  let status: number;
  let lines: string[];
  let progress: ForwardProgress;
  let server: MetricsServer;
  beforeEach(async () => {
    log = openMemoryLog();
    await log.append(newEvent(), newEvent(), newEvent());
    events = await log.scan({ after: 0, limit: 3 });
    receiver = await startTarget(() => ({ status, body: 'no "\n' }));
    status = 200;
    lines = [];
    progress = new ForwardProgress(receiver.url);
    jest.spyOn(console, 'error').mockImplementation((line: string) => lines.push(line));
    server = await serveMetrics(progress, log, ADDRESS);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all([server.close(), receiver.close(), log.close()]);
  });

  const post = async (stop = never) => {
    const wait = (problem: string, pause: number) => progress.again(problem, pause, stop);
    const target = new Target(new URL(receiver.url), {}, { most: Infinity, longestPause: 500, wait });
    const delivery = await target.post(events[0] as StoredEvent, stop);
    progress.attempted(events[0] as StoredEvent, delivery);
    return delivery;
  };
  const figure = async (name: string, labels = '') =>
    (await metricsAt(server.url)).get(`webhook_forward_${name}{target="${receiver.url}"${labels}}`);
  const attempts = (outcome: string) => figure('attempts_total', `,outcome="${outcome}"`);
  const ready = async () => {
    const { status, body } = await send(new URL('/readyz', server.url).href);
    return [status, body.trimEnd()];
  };

  it('have every outcome from the start, and no position before there is one', async () => {
    for (const outcome of ['delivered', 'failed', 'refused', 'redirected']) expect(await attempts(outcome)).toBe(0);
    for (const name of ['position', 'events_behind', 'last_error_timestamp_seconds'])
      expect(await figure(name)).toBeUndefined();
    expect(await ready()).toEqual([200, 'ready']);
  });

  it('say how far the target is, and how many events are left', async () => {
    progress.position = 1;
    expect([await figure('position'), await figure('events_behind')]).toEqual([1, 2]);
    progress.position = 3;
    expect([await figure('position'), await figure('events_behind')]).toEqual([3, 0]);
    await log.append(newEvent());
    expect(await figure('events_behind')).toBe(1);
    await log.forget([4]);
    expect(await figure('events_behind')).toBe(0);
  });

  it('count attempts, and keep the last error until an event is delivered', async () => {
    const began = Date.now() / 1000;
    status = 422;
    expect((await post()).outcome).toBe('refused');
    expect(await figure('last_error_timestamp_seconds')).toBeGreaterThanOrEqual(began);
    expect(await ready()).toEqual([
      503,
      expect.stringMatching(
        /^Event 1 was refused by http:\/\/127.0.0.1:\d+: 422 Unprocessable Entity \(\d+ ms\): no \\"$/,
      ),
    ]);
    status = 200;
    await post();
    expect([await attempts('delivered'), await attempts('refused')]).toEqual([1, 1]);
    expect(await figure('last_error_timestamp_seconds')).toBeGreaterThanOrEqual(began);
    expect(await ready()).toEqual([200, 'ready']);
  });

  it('do not keep an event that was passed over as what is wrong', async () => {
    status = 404;
    const { text } = await post();
    progress.skipped(text);
    expect([await ready(), lines]).toEqual([[200, 'ready'], [text]]);
  });

  it('count an attempt that is followed by another', async () => {
    status = 503;
    const stop = new AbortController();
    const posting = post(stop.signal);
    while ((await attempts('failed')) === 0);
    expect(await ready()).toEqual([503, expect.stringContaining('was not taken by')]);
    stop.abort();
    expect((await posting).outcome).toBe('stopped');
  });

  it('come while the log does not answer, which is asked once', async () => {
    let asked = 0;
    progress.position = 2;
    await server.close();
    const silent = {
      scan: () => log.scan({ after: 0, limit: 1 }),
      stats: () => (asked++, new Promise<never>(() => 0)),
    };
    server = await serveMetrics(progress, silent, ADDRESS);
    const began = performance.now();
    expect(await Promise.all([figure('position'), figure('events_behind')])).toEqual([2, undefined]);
    expect(performance.now() - began).toBeLessThan(5000);
    expect(asked).toBe(1);
  });

  it('need a port that is free', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(serveMetrics(progress, log, { ...ADDRESS, port })).rejects.toThrow(
      `--metrics-port ${String(port)} cannot be used: another program uses it.`,
    );
    other.close();
  });
});
