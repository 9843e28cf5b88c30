import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog, restoreSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { directly } from '../../support/sqlite';
import { temporaryFolder, useTemporaryFolder } from '../../support/temporary-folder';
import { describeEventLog } from '../event-log-suite';

describeEventLog('SQLite', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  return {
    open: (retention) => openSqliteLog({ file, retention, retentionPause: 20 }),
    remove: () => folder.remove(),
  };
});

describe('the upkeep of a log in SQLite', () => {
  const logs: EventLog[] = [];
  afterEach(() => Promise.all(logs.splice(0).map((log) => log.close())));
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });
  const open = async (at = file) => {
    const log = await openSqliteLog({ file: at });
    logs.push(log);
    return log;
  };
  const sizes = () => Promise.all(['', '-wal'].map(async (suffix) => (await stat(file + suffix)).size));

  it('leaves nothing outside the file that it writes anew, also beside others who have it open', async () => {
    const [log] = [await open(), await open()];
    await log.append(newEvent());
    const [bytes = 0, outside = 0] = await sizes();
    expect(await log.stats()).toMatchObject({ bytes: bytes + outside });
    await log.upkeep?.rewrite();
    // Until the write-ahead log is written back, the file has its old pages.
    expect((await sizes())[1]).toBe(0);
  });

  it('overwrites the events that are forgotten, in each file, while the log is open', async () => {
    const log = await open();
    await log.append(newEvent({ id: 'an id to forget', data: '"data":"a text to forget"' }), newEvent());
    await log.forget([1]);
    for (const name of await readdir(folder.path))
      expect([name, (await readFile(join(folder.path, name), 'latin1')).includes('to forget')]).toEqual([name, false]);
  });

  it('gives the space of forgotten events back while another process records', async () => {
    const [log, tool] = [await open(), await open()];
    const data = `"data":"${'x'.repeat(20_000)}"`;
    await log.append(...Array.from({ length: 200 }, () => newEvent({ data })));
    directly(file, 'DELETE FROM events WHERE sequence <= 160; UPDATE totals SET events = events - 160');
    const [full = 0] = await sizes();
    let recording = true;
    const writer = (async () => {
      for (let i = 0; recording && i < 300; i++) await log.append(newEvent());
    })();
    const given = await tool.upkeep?.compact();
    recording = false;
    await writer;
    expect(given).toBeGreaterThan(2_800_000);
    expect((await sizes())[0]).toBeLessThan(full - 2_800_000);
    expect(await log.verify()).toEqual([]);
    expect(await tool.upkeep?.compact()).toBeLessThan(100_000);
    expect((await sizes())[1]).toBe(0);
  });

  const OTHER_INDEX = `UPDATE sqlite_schema SET sql = replace(sql, 'IS NOT NULL', 'IS NULL') WHERE name = 'events_webhook_id'`;
  it.each([
    [
      'an event that is missing',
      'DELETE FROM events WHERE sequence = 2',
      /^The log holds 2 events, and its total says 3\.$/,
    ],
    ['an index that does not agree', `PRAGMA writable_schema = ON; ${OTHER_INDEX}`, /^The file is .*events_webhook_id/],
  ])('finds %s', async (_what, sql, finding) => {
    const making = await openSqliteLog({ file });
    for (let i = 0; i < 3; i++) await making.append(newEvent({ idempotencyKey: String(i) }));
    await making.close();
    directly(file, sql);
    expect(await (await open()).verify()).toContainEqual(expect.stringMatching(finding));
  });

  it('has the events of a backup once it is restored, also by time, and gives no position again', async () => {
    const [log, backup] = [await open(), join(folder.path, 'backup.db')];
    const found = async () =>
      (await log.scan({ after: 0, since: 1000, limit: 10 })).map(({ id, position }) => [id, position]);
    await log.append(newEvent({ id: 'kept', recordedAt: 1000 }));
    await log.upkeep?.backup(backup);
    await log.forget([1]);
    await log.append(newEvent({ id: 'replaced', recordedAt: 1000 }), newEvent({ recordedAt: 0 }));
    expect(await found()).toEqual([['replaced', 2]]);
    const copy = await restoreSqliteLog(backup, file);
    expect(await (await open(copy)).stats()).toMatchObject({ events: 2 });
    expect(await log.verify()).toEqual([]);
    await log.append(newEvent({ id: 'next', recordedAt: 1000 }));
    expect(await found()).toEqual([
      ['kept', 1],
      ['next', 4],
    ]);
    // Also those that are forgotten in the backup, in a log that gave fewer.
    const [later = '', other = ''] = ['later.db', 'other.db'].map((name) => join(folder.path, name));
    await log.forget([1, 4]);
    await log.upkeep?.backup(later);
    expect(await restoreSqliteLog(later, other)).toBeUndefined();
    const restored = await open(other);
    await restored.append(newEvent());
    expect(await restored.newest()).toBe(5);
  });

  it('restores no backup that is damaged, missing or something else, and changes nothing then', async () => {
    const log = await open();
    await log.append(newEvent({ id: 'kept' }));
    const [damaged, notes, missing] = ['damaged.db', 'notes.txt', 'missing.db'].map((name) => join(folder.path, name));
    await log.upkeep?.backup(damaged ?? '');
    await writeFile(damaged ?? '', Buffer.alloc(4096, 0xff), { flag: 'r+' });
    await writeFile(notes ?? '', 'these are my notes '.repeat(100));
    for (const other of [damaged, notes, missing])
      await expect(restoreSqliteLog(other ?? '', file)).rejects.toThrow(other);
    expect((await log.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['kept']);
    expect((await readdir(folder.path)).filter((name) => /missing|replaced/.test(name))).toEqual([]);
  });
});
