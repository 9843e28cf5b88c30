import { join } from 'node:path';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import type { EventLog } from '../../../../src/log/event-log';
import { useTemporaryFolder } from '../../../support/temporary-folder';
import { newEvent } from '../../../support/events';

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

  it('finds a time range around thousands of late events in a row', async () => {
    await record([...upwards(10_000, 500), ...upwards(1000, 6000), ...upwards(20_000, 500), 3500]);
    expect(await found({ from: 10_100, to: 10_103 })).toEqual([10_102, 10_101, 10_100]);
    expect(await found({ from: 3500, to: 3502 })).toEqual([3500, 3501, 3500]);
    expect(await found({ from: 20_499 })).toEqual([20_499]);
    expect(await found({ to: 1001 })).toEqual([1000]);
  });
});
