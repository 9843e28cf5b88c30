import fs from 'node:fs';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Database } from '../../../../src/log/sqlite/database';
import { openSqliteLog } from '../../../../src/log/sqlite/event-log';
import { TYPE } from '../../../../src/log/sqlite/schema';
import { useTemporaryFolder } from '../../../support/temporary-folder';
import { everyEvent, outcome, newEvent } from '../../../support/events';
import { failureOf } from '../../../support/jetstream';
import { openDirectly } from '../../../support/sqlite';

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

describe('a SQLite event log that fails', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
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
    const failure = 'The event could not be recorded. ---> database is locked';
    const append = async (name: string) => expect(await noted(name, failureOf(log.append(newEvent())))).toBe(failure);
    const waiting = [append('first')];
    await nextTurn();
    waiting.push(append('second'));
    expect(await noted('read', log.read(everyEvent))).toEqual([]);
    expect(await noted('check', failureOf(log.check()))).toBe(
      'The event log cannot take events. ---> database is locked',
    );
    await Promise.all(waiting);
    expect(order).toEqual(['read', 'check', 'first', 'second']);
    expect(performance.now() - started).toBeLessThan(2 * busyTimeout);
    other.exec('ROLLBACK');
    other.close();
    expect((await outcome(log.append(newEvent()))).recorded).toBe(true);
    await log.close();
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
