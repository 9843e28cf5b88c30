import fs from 'node:fs';
import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { EventLogError } from '../../../../src/log/engine';
import type { EventLog } from '../../../../src/log/event-log';
import { Database } from '../../../../src/log/sqlite/database';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import { TYPE } from '../../../../src/log/sqlite/schema';
import { useTemporaryFolder } from '../../../support/temporary-folder';
import { everyEvent, outcome, newEvent } from '../../../support/events';
import { directly, openDirectly } from '../../../support/sqlite';

describe('a SQLite event log that cannot be opened', () => {
  const folder = useTemporaryFolder();

  it.each([
    ['', 'ELOOP'],
    ['-wal', 'ELOOP'],
  ])('says why without a path, which callers must not see (events.db%s)', async (suffix, reason) => {
    const file = join(folder.path, 'events.db');
    const log = await openSqliteLog({ file });
    await log.append(newEvent());
    await log.close();
    await rm(file + suffix, { force: true });
    await symlink(`events.db${suffix}`, file + suffix);
    await expect(openSqliteLog({ file })).rejects.toMatchObject({
      cause: { message: `${reason}. Set EVENT_LOG to sqlite: and the path of a file.` },
    });
  });
});

describe('a SQLite event log with damaged events', () => {
  const folder = useTemporaryFolder();

  it.each(['attributes', 'data'])(
    'passes over one whose %s are not JSON, says so, and reads on after it',
    async (column) => {
      const file = join(folder.path, 'events.db');
      const log = await openSqliteLog({ file });
      const hint = jest.fn();
      log.observe({ hint });
      await log.append(...['one', 'two', 'three'].map((id) => newEvent({ id })));
      directly(file, `UPDATE events SET ${column} = 'x' WHERE sequence < 3`);
      expect((await log.read({ ...everyEvent, after: 0, limit: 1 })).map(({ id }) => id)).toEqual(['three']);
      expect((await log.read(everyEvent)).map(({ id }) => id)).toEqual(['three']);
      // Only its reader can say what is wrong with one that was named.
      expect((await log.read({ position: 1, limit: 1 })).map(({ id }) => id)).toEqual(['one']);
      expect(hint).toHaveBeenCalledWith('damaged event', expect.stringContaining('Event 1 cannot be read'));
      expect((await log.search({ limit: 10, type: 'webhook.recorded' })).more).toBe(false);
      await log.close();
    },
  );
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

  it('is not opened under a path that not even root can create', async () => {
    const below = join(file, 'sub', 'events.db');
    await writeFile(file, '');
    const [message, cause] = await causeOf(openSqliteLog({ file: below }));
    expect(message).toBe(`The event log ${below} cannot be opened.`);
    expect(cause).toBe('part of its path is a file, not a folder. Set EVENT_LOG to sqlite: and the path of a file.');
  });

  it('is not opened on a file that this user cannot write', async () => {
    await writeFile(file, '');
    // root may write every file.
    const denied = jest.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'access' });
    });
    await expect(Database.open({ file })).rejects.toThrow(/^the user \S+ has no permission\. Set EVENT_LOG/);
    denied.mockRestore();
  });

  it('is not opened on a file that is not a database, and leaves it as it is', async () => {
    await writeFile(file, 'these are my notes, please keep them. '.repeat(100));
    const [, cause] = await causeOf(openSqliteLog({ file }));
    expect(cause).toBe('file is not a database');
    expect(await readFile(file, 'utf8')).toBe('these are my notes, please keep them. '.repeat(100));
  });

  it('records all events of one call or none', async () => {
    const log = await openSqliteLog({ file, maxPages: 40 });
    const small = Array.from({ length: 5 }, () => newEvent());
    const large = newEvent({ data: `"data":"${'x'.repeat(500_000)}"` });
    const [message, cause] = await causeOf(log.append(...small, large));
    expect([message, cause]).toEqual(['The events could not be recorded.', 'database or disk is full']);
    expect((await log.stats()).events).toBe(0);
    expect(await log.read(everyEvent)).toEqual([]);
    await log.append(...small);
    expect((await log.stats()).events).toBe(5);
    await log.close();
  });

  it('is ready again when there is room, without a call in between, and leaves no trace of trying', async () => {
    const log = await openSqliteLog({ file, maxPages: 60 });
    const large = newEvent({ data: `"data":"${'x'.repeat(150_000)}"` });
    const filling = await outcome(log.append(large));
    await causeOf(log.append({ ...large, id: 'second' }));
    await causeOf(log.check());
    directly(file, `DELETE FROM events WHERE id = '${filling.id}'; UPDATE totals SET events = 0`);
    const before = await log.stats();
    await log.check();
    expect(await log.stats()).toMatchObject({ events: before.events, last: before.last });
    expect(await log.verify()).toEqual([]);
    expect((await outcome(log.append({ ...large, id: 'second' }))).recorded).toBe(true);
    await log.close();
  });

  it('says that the database is locked by another program, and goes on afterwards', async () => {
    const log = await openSqliteLog({ file, busyTimeout: 50 });
    const other = openDirectly(file);
    other.exec('BEGIN IMMEDIATE');
    const [message, cause] = await causeOf(log.append(newEvent()));
    expect([message, cause]).toEqual(['The event could not be recorded.', 'database is locked']);
    expect(await causeOf(log.check())).toEqual(['The event log cannot take events.', 'database is locked']);
    expect(await log.read(everyEvent)).toEqual([]);
    other.exec('ROLLBACK');
    other.close();
    await log.check();
    expect((await outcome(log.append(newEvent({ id: 'after' })))).recorded).toBe(true);
    await log.close();
  });

  it('reads and says that it is locked while an event waits for the lock, and a later one waits no longer', async () => {
    const busyTimeout = 3000;
    const log = await openSqliteLog({ file, busyTimeout });
    const other = openDirectly(file);
    other.exec('BEGIN IMMEDIATE');
    const started = performance.now();
    const order: string[] = [];
    const noted = async (name: string, call: Promise<unknown>) => {
      const result = await call;
      order.push(name);
      return result;
    };
    const waiting = [noted('first', causeOf(log.append(newEvent())))];
    await nextTurn();
    waiting.push(noted('second', causeOf(log.append(newEvent()))));
    expect(await noted('read', log.read(everyEvent))).toEqual([]);
    expect(await noted('check', causeOf(log.check()))).toEqual([
      'The event log cannot take events.',
      'database is locked',
    ]);
    await Promise.all(waiting);
    expect(order).toEqual(['read', 'check', 'first', 'second']);
    expect(performance.now() - started).toBeLessThan(2 * busyTimeout);
    other.exec('ROLLBACK');
    other.close();
    await log.close();
  });

  it('is not ready while no event can be recorded for another reason than room, and is again by itself', async () => {
    const log = await openSqliteLog({ file });
    directly(file, "CREATE TRIGGER fails BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'not now'); END");
    await causeOf(log.append(newEvent()));
    for (let i = 0; i < 3; i++) {
      expect(await causeOf(log.check())).toEqual(['The event log cannot take events.', 'not now']);
    }
    directly(file, 'DROP TRIGGER fails');
    await log.check();
    expect((await log.stats()).events).toBe(0);
    const { id } = await outcome(log.append(newEvent()));
    expect(await log.read(everyEvent)).toMatchObject([{ id, position: 1 }]);
    await log.close();
  });

  it('waits for another program that holds the lock for a moment', async () => {
    const log = await openSqliteLog({ file });
    const other = openDirectly(file);
    other.exec('BEGIN IMMEDIATE');
    const appended = outcome(log.append(newEvent()));
    void setTimeout(100).then(() => other.exec('ROLLBACK'));
    expect((await appended).recorded).toBe(true);
    other.close();
    await log.close();
  });

  describe('copied', () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await openSqliteLog({ file });
      await log.append(newEvent({ id: 'kept' }));
    });
    afterEach(() => log.close());

    const copy = () => join(folder.path, 'copy.db');
    const backUp = (target: string) => log.upkeep?.backup(target) ?? Promise.reject(new Error('no file'));

    it('is one file, which opens as a log with its events', async () => {
      await backUp(copy());
      expect((await readdir(folder.path)).filter((name) => !name.startsWith('events.db'))).toEqual(['copy.db']);
      const copied = await openSqliteLog({ file: copy() });
      expect((await copied.read(everyEvent)).map(({ id }) => id)).toEqual(['kept']);
      expect((await outcome(copied.append(newEvent({ id: 'kept' })))).recorded).toBe(false);
      await copied.close();
    });

    it('does not replace a file', async () => {
      await writeFile(copy(), 'mine');
      const [message, cause] = await causeOf(backUp(copy()));
      expect(message).toBe('The event log could not be copied.');
      expect(cause).toBe(`${copy()} exists already. Choose another name or move that file away.`);
      expect(await readFile(copy(), 'utf8')).toBe('mine');
    });
  });

  it('is created by many at the same moment', async () => {
    const logs = await Promise.all(Array.from({ length: 8 }, () => openSqliteLog({ file })));
    await Promise.all(logs.map((log) => log.append(newEvent())));
    expect(await logs[0]?.read(everyEvent)).toHaveLength(8);
    await Promise.all(logs.map((log) => log.close()));
  });

  it('finds events by an index, whatever the query', async () => {
    await (await openSqliteLog({ file })).close();
    const database = openDirectly(file);
    const plans = [
      'id = ?',
      'id = ? AND sequence > ?',
      'sequence > ?',
      'recorded_at >= ? AND recorded_at < ?',
      `${TYPE} = ? AND sequence > ?`,
      '(id = ? AND source = ?) OR idempotency_key = ? OR webhook_id = ?',
    ];
    for (const where of plans) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN SELECT id FROM events WHERE ${where} ORDER BY sequence`).all();
      expect(JSON.stringify(plan)).not.toContain('SCAN');
    }
    database.close();
  });
});
