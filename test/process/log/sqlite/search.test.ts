import { join } from 'node:path';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import type { EventLog } from '../../../../src/log/event-log';
import { eventually } from '../../../support/eventually';
import { useTemporaryFolder } from '../../../support/temporary-folder';
import { newEvent, ratesOf } from '../../../support/events';

describe('a SQLite event log whose times do not grow with its positions', () => {
  const folder = useTemporaryFolder();
  let log: EventLog;
  beforeEach(async () => {
    log = await openSqliteLog({ file: join(folder.path, 'events.db') });
  });
  afterEach(() => log.close());

  const record = async (times: readonly number[]) => {
    const events = times.map((recordedAt) => newEvent({ recordedAt, data: `"data":${String(recordedAt)}` }));
    for (let i = 0; i < events.length; i += 1000) await log.append(...events.slice(i, i + 1000));
  };
  const upwards = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
  const counts = async (until: number, span: number, spans: number) =>
    (await ratesOf(log, { until, span, spans })).map(({ events }) => events);
  const found = async (query: { from?: number; to?: number }) => {
    const times: number[] = [];
    let before: number | undefined;
    for (let more = true; more;) {
      const result = await log.search({ limit: 1000, before, ...query });
      times.push(...result.events.map(({ recordedAt }) => recordedAt));
      before = result.reached?.position;
      more = result.more;
    }
    return times;
  };

  it('counts events in the span in which they were recorded, wherever they stand', async () => {
    await record([10, 11, 25, 12, 27, 26, 28, 31, 13, 24, 39]);
    expect(await counts(40, 10, 4)).toEqual([0, 4, 5, 2]);
    expect(await counts(39, 10, 3)).toEqual([4, 5, 1]);
    expect(await counts(1000, 10, 2)).toEqual([0, 0]);
  });

  it('finds a time range around thousands of late events in a row', async () => {
    await record([...upwards(10_000, 500), ...upwards(1000, 6000), ...upwards(20_000, 500), 3500]);
    expect(await found({ from: 10_100, to: 10_103 })).toEqual([10_102, 10_101, 10_100]);
    expect(await found({ from: 3500, to: 3502 })).toEqual([3500, 3501, 3500]);
    expect(await found({ from: 20_499 })).toEqual([20_499]);
    expect(await found({ to: 1001 })).toEqual([1000]);
  });

  it('finds and counts what follows an event that is ahead of its time', async () => {
    await record([1, 9_000_000, ...upwards(100, 12_000)]);
    expect(await found({ from: 12_098, to: 20_000 })).toEqual([12_099, 12_098]);
    expect(await counts(12_100, 100, 2)).toEqual([100, 100]);
  });

  it('finishes a long search before it closes', async () => {
    await record(upwards(0, 12_000));
    const result = log.search({ limit: 1, text: 'a text that does not occur' });
    const rates = ratesOf(log, { until: 12_000, span: 200, spans: 60 });
    await log.close();
    expect((await result).reached).toBeDefined();
    expect((await rates).map(({ events }) => events)).toEqual(new Array(60).fill(200));
  });

  it('does not count what it has forgotten', async () => {
    await record(upwards(0, 5000));
    await log.close();
    const limited = { file: join(folder.path, 'events.db'), retention: { maxEvents: 100, maxAge: undefined } };
    log = await openSqliteLog({ ...limited, retentionPause: 1 });
    await eventually('the others are forgotten', async () => (await log.stats()).events <= 100);
    expect(await counts(5000, 2500, 2)).toEqual([0, 100]);
  });
});
