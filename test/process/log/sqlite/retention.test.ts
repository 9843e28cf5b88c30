import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FileLog, Retention } from '../../../../src/log/event-log';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import { eventually } from '../../../support/eventually';
import { useTemporaryFolder } from '../../../support/temporary-folder';
import { newEvent } from '../../../support/events';

/** How long retention pauses when nothing is due, in milliseconds. */
const PAUSE = 20;

describe('retention of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  const logs: FileLog[] = [];
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()));
  });

  const open = async (retention?: Retention): Promise<FileLog> => {
    const log = await openSqliteLog({ file, retentionPause: PAUSE, ...(retention && { retention }) });
    logs.push(log);
    return log;
  };

  it('forgets the oldest beyond RETENTION_MAX_EVENTS, exactly', async () => {
    const log = await open({ maxEvents: 25, maxAge: undefined });
    await Promise.all(Array.from({ length: 1000 }, (_, i) => log.append(newEvent({ id: String(i) }))));
    await eventually('the others are forgotten', async () => (await log.stats()).events === 25);
    await setTimeout(50);
    const kept = (await log.scan({ after: 0, limit: 100 })).map(({ id }) => id);
    expect(kept).toEqual(Array.from({ length: 25 }, (_, i) => String(975 + i)));
  });

  it('forgets what is older than RETENTION_MAX_AGE, and nothing else', async () => {
    const log = await open({ maxEvents: undefined, maxAge: 3_600_000 });
    const now = Date.now();
    for (const age of [7_200_000, 3_700_000, 3_500_000, 0]) {
      await log.append(newEvent({ id: String(age), recordedAt: now - age }));
    }
    await eventually('the others are forgotten', async () => (await log.stats()).events === 2);
    expect((await log.scan({ after: 0, limit: 100 })).map(({ id }) => id)).toEqual(['3500000', '0']);
  });

  it('forgets nothing without a limit', async () => {
    const log = await open();
    await log.append(newEvent({ recordedAt: 0 }));
    await setTimeout(10 * PAUSE);
    expect((await log.stats()).events).toBe(1);
  });

  it('goes on after an event that has more bytes than a step deletes', async () => {
    const log = await open({ maxEvents: 1, maxAge: undefined });
    const large = newEvent({ data: `"data":"${'x'.repeat(600 * 1024)}"` });
    await log.appendAll([large, newEvent(), newEvent(), newEvent(), newEvent({ id: 'last' })]);
    await eventually('the others are forgotten', async () => (await log.stats()).events === 1);
    expect((await log.scan({ after: 0, limit: 100 })).map(({ id }) => id)).toEqual(['last']);
  });

  it('works with two logs open on one file', async () => {
    const retention = { maxEvents: 10, maxAge: undefined };
    const [one, other] = [await open(retention), await open(retention)];
    await Promise.all(Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? one : other).append(newEvent())));
    await eventually('the others are forgotten', async () => (await one.stats()).events === 10);
    expect(await other.scan({ after: 0, limit: 100 })).toHaveLength(10);
  });

  it('never uses a position twice, even after everything was forgotten', async () => {
    const log = await open({ maxEvents: undefined, maxAge: 1000 });
    await Promise.all(Array.from({ length: 20 }, () => log.append(newEvent({ recordedAt: 0 }))));
    await eventually('the others are forgotten', async () => (await log.stats()).events === 0);
    await log.append(newEvent({ recordedAt: Date.now() + 60_000 }));
    const [event] = await log.scan({ after: 0, limit: 1 });
    expect(event?.position).toBeGreaterThan(20);
  });
});
