import { BUILD } from '../../src/util/program';
import type { Metrics } from '../../src/telemetry/metrics';
import { RefusedCalls } from '../../src/telemetry/refused-calls';
import { Deferred } from '../../src/util/promises';
import { Reports } from '../../src/workers/reports';
import { NO_REPORT, type End, type Report, type WorkerProcess } from '../../src/workers/worker';
import { eventually, succeeds } from '../support/eventually';
import { idleMetrics } from '../support/metrics';

const refusal = (time: number) => ({ time, remoteAddress: undefined, status: 401, reason: '' });

/** A worker in which this many calls are in progress and wait, and one was refused. */
class MeasuredWorker implements Pick<WorkerProcess, 'ended' | 'lastReport' | 'report'> {
  readonly #ended = new Deferred<End>();
  readonly ended = this.#ended.promise;
  readonly metrics: Metrics;
  lastReport = NO_REPORT;
  hangs = false;
  readonly #refused = new RefusedCalls();

  constructor(busy: number, isReady: boolean) {
    this.#refused.add(refusal(busy));
    const [now, stored] = [() => busy, () => Promise.resolve(busy)];
    const ofCalls = { inFlight: now, waiting: now, connections: now };
    this.metrics = idleMetrics({ ...ofCalls, isReady: () => Promise.resolve(isReady), events: stored, bytes: stored });
  }

  async report(): Promise<Report> {
    if (this.hangs) throw new Error('the worker does not answer');
    this.lastReport = { figures: await this.metrics.registry.getMetricsAsJSON(), refusals: this.#refused.list() };
    return this.lastReport;
  }

  kill(): void {
    this.hangs = true;
    this.#ended.resolve({ code: undefined, cause: 'SIGKILL' });
  }
}

const GAUGES = [
  'webhook_calls_in_flight',
  'webhook_calls_waiting',
  'webhook_connections',
  'webhook_ready',
  'webhook_log_events',
  'webhook_log_bytes',
  `webhook_build_info{version="${BUILD.version}",commit="${BUILD.commit}"}`,
];
/** Seven of each in the one that ends or hangs, and two in the other, which is ready. They have the same log and build. */
const OF_BOTH = ['9', '9', '9', '0', '7', '7', '1'];
const OF_THE_OTHER = ['2', '2', '2', '1', '2', '2', '1'];

describe('the figures of several workers', () => {
  let reports: Reports;
  let busy: MeasuredWorker;
  let idle: MeasuredWorker;
  beforeEach(() => {
    reports = new Reports();
    [busy, idle] = [new MeasuredWorker(7, false), new MeasuredWorker(2, true)];
    for (const worker of [busy, idle]) {
      reports.add(worker);
      worker.metrics.calls.add('soap11', 'RecordEvent', 'ok', 0.005);
      worker.metrics.commit({ events: 3, recorded: 2, milliseconds: 1 });
      worker.metrics.refusals.inc({ reason: 'key' });
    }
  });

  const values = async (...names: string[]) => {
    const lines = (await reports.metrics()).split('\n');
    return names.map((name) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1));
  };
  const refused = async () => {
    const own = new RefusedCalls();
    own.add(refusal(9));
    return (await reports.refusals(() => own.list())).calls.map(({ time }) => time);
  };
  const COUNTED = [
    'webhook_events_recorded_total',
    'webhook_refusals_total{reason="key"}',
    'webhook_call_duration_seconds_count{binding="soap11",operation="RecordEvent",outcome="ok"}',
    'webhook_commit_events_sum',
  ];

  it('keep what one that has died had counted, and nothing of its gauges', async () => {
    expect(await values(...GAUGES)).toEqual(OF_BOTH);
    expect(await refused()).toEqual([9, 7, 2]);
    busy.kill();
    await busy.ended;
    for (let i = 0; i < 3; i++) {
      expect(await refused()).toEqual([9, 7, 2]);
      expect(await values(...GAUGES)).toEqual(OF_THE_OTHER);
      expect(await values(...COUNTED)).toEqual(['4', '2', '2', '6']);
      expect(await values('webhook_workers{state="answering"}', 'webhook_workers{state="silent"}')).toEqual(['1', '0']);
    }
    idle.kill();
    await idle.ended;
    await reports.metrics();
    expect(await values(...COUNTED)).toEqual(['4', '2', '2', '6']);
    expect(await values(...GAUGES)).toEqual(GAUGES.map(() => undefined));
  });

  it('keep what all had counted and refused that die at the same moment', async () => {
    await reports.metrics();
    for (const worker of [busy, idle]) worker.kill();
    await idle.ended;
    expect([...(await values(...COUNTED)), ...(await refused())]).toEqual(['4', '2', '2', '6', 9, 7, 2]);
  });

  it('keep what one that does not answer had counted, and nothing of its gauges', async () => {
    await reports.metrics();
    busy.hangs = true;
    expect(await values(...GAUGES, ...COUNTED)).toEqual([...OF_THE_OTHER, '4', '2', '2', '6']);
    expect(await refused()).toEqual([9, 7, 2]);
    expect(await values('webhook_workers{state="answering"}', 'webhook_workers{state="silent"}')).toEqual(['1', '1']);
  });

  it('say that no worker can take events once none can', async () => {
    await reports.check();
    idle.hangs = true;
    await expect(reports.check()).rejects.toThrow(/^No worker can take events\./);
    idle.hangs = false;
    idle.kill();
    await idle.ended;
    await expect(reports.check()).rejects.toThrow(/^No worker can take events\./);
  });

  it('go on without one whose last report is not in the form of this build', async () => {
    await reports.metrics();
    busy.lastReport = { ...busy.lastReport, refusals: [null, null] } as unknown as Report;
    idle.lastReport = { ...idle.lastReport, figures: undefined } as unknown as Report;
    for (const worker of [busy, idle]) worker.kill();
    await eventually('both are left out', () => succeeds(reports.metrics()));
    expect(await values('webhook_workers{state="answering"}', 'webhook_workers{state="silent"}')).toEqual(['0', '0']);
  });
});
