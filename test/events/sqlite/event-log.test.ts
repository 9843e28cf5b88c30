import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'libsql';
import { EventLogError } from '../../src/events/event-log';
import { SqliteEventLog } from '../../src/events/sqlite-event-log';
import { temporaryFolder, useTemporaryFolder } from '../support/service';
import { describeEventLog, EVERYTHING, newEvent } from './event-log-suite';

describeEventLog('SQLite', async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, 'events.db');
  return {
    open: (retention) => SqliteEventLog.open({ file, ...(retention && { retention }) }),
    remove: () => folder.remove(),
  };
});

describe('a SQLite event log that fails', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  const causeOf = async (promise: Promise<unknown>): Promise<[message: string, cause: string]> => {
    const error: unknown = await promise.then(
      () => undefined,
      (rejected: unknown) => rejected,
    );
    expect(error).toBeInstanceOf(EventLogError);
    const { message, cause } = error as EventLogError;
    return [message, (cause as Error).message];
  };

  it('is not opened under a path that cannot be created, not by root either', async () => {
    const below = join(file, 'sub', 'events.db');
    await writeFile(file, '');
    const [message, cause] = await causeOf(SqliteEventLog.open({ file: below }));
    expect(message).toBe(`The event log ${below} cannot be opened.`);
    expect(cause).toMatch(/ENOTDIR|EEXIST/);
  });

  it('is not opened where a folder stands in place of the file', async () => {
    const [message] = await causeOf(SqliteEventLog.open({ file: folder.path }));
    expect(message).toBe(`The event log ${folder.path} cannot be opened.`);
  });

  it('is not opened on a file that is no database, which stays as it was', async () => {
    await writeFile(file, 'these are my notes, please keep them. '.repeat(100));
    const [, cause] = await causeOf(SqliteEventLog.open({ file }));
    expect(cause).toBe('file is not a database');
  });

  it('says that the disk is full, keeps what was recorded, and takes what still fits', async () => {
    const log = await SqliteEventLog.open({ file, maxPages: 40 });
    await log.append(newEvent({ id: 'first' }));
    const large = newEvent({ data: `"data":"${'x'.repeat(500_000)}"` });
    const [message, cause] = await causeOf(log.append(large));
    expect(message).toBe('The event could not be recorded.');
    expect(cause).toBe('database or disk is full');
    await log.append(newEvent({ id: 'second' }));
    expect((await log.read(EVERYTHING)).map(({ id }) => id)).toEqual(['first', 'second']);
    await log.close();
  });

  it('records none of the events of a commit that fails', async () => {
    const log = await SqliteEventLog.open({ file, maxPages: 40 });
    const outcomes = await Promise.allSettled([
      log.append(newEvent()),
      log.append(newEvent({ data: `"data":"${'x'.repeat(500_000)}"` })),
      log.append(newEvent()),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await log.read(EVERYTHING)).toEqual([]);
    await log.close();
  });

  it('says that the database is locked while another program locks it, and goes on after', async () => {
    const log = await SqliteEventLog.open({ file, busyTimeout: 50 });
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const [message, cause] = await causeOf(log.append(newEvent()));
    expect([message, cause]).toEqual(['The event could not be recorded.', 'database is locked']);
    expect(await log.read(EVERYTHING)).toEqual([]);
    other.exec('ROLLBACK');
    other.close();
    expect((await log.append(newEvent({ id: 'after' }))).recorded).toBe(true);
    await log.close();
  });

  it('is not ready from a commit that failed until one is possible again', async () => {
    const log = await SqliteEventLog.open({ file, busyTimeout: 50 });
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    await causeOf(log.append(newEvent()));
    expect(await causeOf(log.check())).toEqual(['The event log cannot take events.', 'database is locked']);
    other.exec('ROLLBACK');
    other.close();
    await log.check();
    expect(await log.count()).toBe(0);
    await log.close();
  });

  it('takes nothing while its folder is lost, and opens what is there when it is back', async () => {
    const log = await SqliteEventLog.open({ file });
    await log.append(newEvent());
    await rm(folder.path, { recursive: true });
    expect((await causeOf(log.append(newEvent())))[1]).toBe('the file is not there any more');
    expect((await causeOf(log.check()))[0]).toBe('The event log cannot take events.');
    await mkdir(folder.path);
    while ((await log.check().catch(() => false)) === false) await setTimeout(10);
    const event = newEvent();
    await log.append(event);
    expect((await log.scan(0n, 10)).map(({ id }) => id)).toEqual([event.id]);
    await log.close();
  });

  it('takes nothing into a file whose place another file has, and then goes on in that one', async () => {
    const log = await SqliteEventLog.open({ file });
    await rm(folder.path, { recursive: true });
    const other = await SqliteEventLog.open({ file });
    expect((await causeOf(log.append(newEvent())))[1]).toBe('another file has taken the place of the file');
    const event = newEvent();
    await log.append(event);
    expect((await other.scan(0n, 10)).map(({ id }) => id)).toEqual([event.id]);
    await log.close();
    await other.close();
  });

  it('is closed without an error while its folder is lost', async () => {
    const log = await SqliteEventLog.open({ file });
    await rm(folder.path, { recursive: true });
    await log.check().catch(() => undefined);
    await log.check().catch(() => undefined);
    await log.close();
  });

  it('waits for another program that locks the database for a moment', async () => {
    const log = await SqliteEventLog.open({ file });
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const appended = log.append(newEvent());
    void setTimeout(100).then(() => other.exec('ROLLBACK'));
    expect((await appended).recorded).toBe(true);
    other.close();
    await log.close();
  });

  it('opens one new file from many sides at the same moment', async () => {
    const logs = await Promise.all(Array.from({ length: 8 }, () => SqliteEventLog.open({ file })));
    await Promise.all(logs.map((log) => log.append(newEvent())));
    expect(await logs[0]?.read(EVERYTHING)).toHaveLength(8);
    await Promise.all(logs.map((log) => log.close()));
  });

  it('looks events up by an index, whatever is asked', async () => {
    await (await SqliteEventLog.open({ file })).close();
    const database = new Database(file);
    const plans = [
      'id = ?',
      'id = ? AND sequence > ?',
      'sequence > ?',
      '(id = ? AND source = ?) OR idempotency_key = ? OR webhook_id = ?',
    ];
    for (const where of plans) {
      const plan = database
        .prepare(`EXPLAIN QUERY PLAN SELECT id FROM events WHERE ${where} ORDER BY sequence`)
        .all(1, 1, 1, 1);
      expect(JSON.stringify(plan)).not.toContain('SCAN');
    }
    database.close();
  });
});
