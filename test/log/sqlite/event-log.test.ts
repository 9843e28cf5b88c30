import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog, restoreSqliteLog } from '../../../src/log/sqlite/event-log';
import { newEvent } from '../../support/events';
import { directly, openDirectly } from '../../support/sqlite';
import { temporaryFolder, useTemporaryFolder } from '../../support/temporary-folder';
import { describeEventLog } from '../event-log-suite';

describeEventLog('SQLite', async () => {
  const file = join(await temporaryFolder(), 'events.db');
  return {
    open: (retention) => openSqliteLog({ file, retention, retentionPause: 20 }),
    clear() {
      directly(file, 'DELETE FROM events; UPDATE totals SET events = 0');
      return Promise.resolve();
    },
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

  it('has nothing of forgotten events once its file is written anew, beside others who have it open', async () => {
    const [log, tool] = [await open(), await open()];
    // In no order: their indexes split pages all over, and move what is in them.
    const marks = Array.from({ length: 600 }, (_, i) => `mark-${String((i * 7919) % 600).padStart(4, '0')}-`);
    const events = marks.map((mark, i) => ({
      id: mark,
      source: mark,
      idempotencyKey: mark,
      webhookId: mark,
      arrival: `{"path":"${mark}"}`,
      data: `"data":"${mark}${'x'.repeat(i % 100 === 0 ? 30_000 : (i * 37) % 900)}${mark}"`,
    }));
    await log.append(...events.map(newEvent));
    const [bytes = 0, outside = 0] = await sizes();
    expect(await log.stats()).toMatchObject({ bytes: bytes + outside });
    await tool.forget(marks.slice(0, 200).map((_, i) => 3 * (i + 1)));
    await tool.upkeep?.rewrite();
    // Until the write-ahead log is written back, the file has its old pages.
    expect((await sizes())[1]).toBe(0);
    const content = await readFile(file, 'latin1');
    expect(marks.filter((mark) => content.includes(mark))).toEqual(marks.filter((_, i) => (i + 1) % 3 > 0));
    expect(await log.verify()).toEqual([]);
  });

  it('overwrites the events that are forgotten, in each file, while the log is open', async () => {
    const log = await open();
    await log.append(newEvent({ id: 'an id to forget', data: '"data":"a text to forget"' }), newEvent());
    await log.forget([1]);
    for (const name of await readdir(folder.path))
      expect([name, (await readFile(join(folder.path, name), 'latin1')).includes('to forget')]).toEqual([name, false]);
  });

  it('says so if bytes may remain of events that are forgotten while another program reads, and removes them when asked again', async () => {
    const [log, reader] = [await open(), openDirectly(file)];
    await log.append(newEvent());
    reader.exec('BEGIN; SELECT * FROM events');
    jest.spyOn(timers, 'setTimeout').mockImplementation(() => new Promise((resolve) => setImmediate(resolve)));
    const reason: unknown = expect.stringContaining('has been reading for too long');
    await expect(log.forget([1])).rejects.toHaveProperty('cause.message', reason);
    jest.restoreAllMocks();
    reader.exec('COMMIT');
    reader.close();
    expect(await log.forget([1])).toEqual([]);
    expect((await sizes())[1]).toBe(0);
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
    const [damaged = '', unsound = '', ...others] = ['damaged.db', 'unsound.db', 'notes.txt', 'missing.db'].map(
      (name) => join(folder.path, name),
    );
    for (const copy of [damaged, unsound]) await log.upkeep?.backup(copy);
    await writeFile(damaged, Buffer.alloc(4096, 0xff), { flag: 'r+' });
    directly(unsound, `PRAGMA writable_schema = ON; ${OTHER_INDEX}`);
    await writeFile(others[0] ?? '', 'these are my notes '.repeat(100));
    for (const other of [damaged, unsound, ...others])
      await expect(restoreSqliteLog(other, file)).rejects.toThrow(other);
    expect((await log.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['kept']);
    expect((await readdir(folder.path)).filter((name) => /missing|replaced/.test(name))).toEqual([]);
  });
});
