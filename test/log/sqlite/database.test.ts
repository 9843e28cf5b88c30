import fs from 'node:fs';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import type { EventLog } from '../../../src/log/event-log';
import { Database, type SqliteOptions } from '../../../src/log/sqlite/database';
import { openSqliteLog, restoreSqliteLog } from '../../../src/log/sqlite/event-log';
import { outcome, newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { directly, openDirectly } from '../../support/sqlite';

describe('the database of a log', () => {
  const logs: EventLog[] = [];
  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(logs.splice(0).map((log) => log.close()));
  });
  const folder = useTemporaryFolder();
  const file = () => join(folder.path, 'events.db');
  const open = async (options: Partial<SqliteOptions> = {}) => {
    const log = await openSqliteLog({ file: file(), ...options });
    logs.push(log);
    return log;
  };
  /** The threads that are started from now on. */
  const startedThreads = () => {
    const { Worker } = threads;
    const { mock } = jest.spyOn(threads, 'Worker').mockImplementation((...values) => new Worker(...values));
    return () => mock.results.map(({ value }) => value as threads.Worker);
  };

  it('waits until a commit is on the disk itself, also where that takes more than fsync', async () => {
    const database = await Database.open({ file: file() });
    expect(database.prepare('PRAGMA fullfsync').get()).toEqual({ fullfsync: 1 });
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  it('answers a repetition of two events with the id of the first', async () => {
    const log = await open();
    await log.append(newEvent({ id: 'first', webhookId: 'delivery' }));
    await log.append(newEvent({ id: 'second', source: '/sender' }));
    const both = newEvent({ id: 'second', source: '/sender', webhookId: 'delivery' });
    expect(await outcome(log.append(both))).toEqual({ id: 'first', recorded: false });
  });

  it('has the lock from the beginning of a transaction that writes, so that what it reads stays true', async () => {
    const [one, other] = [await Database.open({ file: file() }), await Database.open({ file: file() })];
    const [writing, reading] = await one.write(() => [
      expect(other.write(() => 1, 0)).rejects.toThrow('database is locked'),
      expect(other.read(() => 1)).resolves.toBe(1),
    ]);
    await Promise.all([writing, reading]);
    expect(await other.write(() => 1, 0)).toBe(1);
    for (const database of [one, other]) database.close();
  });

  it('without room for an event cannot take events until there is, without a call in between, and leaves no trace of trying', async () => {
    const log = await open({ maxPages: 60 });
    const large = newEvent({ data: `"data":"${'x'.repeat(150_000)}"` });
    await log.append(large);
    const full = { cause: { message: 'database or disk is full' } };
    // All events of a call are recorded, or none.
    await expect(log.append(newEvent(), { ...large, id: 'second' })).rejects.toMatchObject(full);
    await expect(log.check()).rejects.toMatchObject(full);
    directly(file(), 'DELETE FROM events; UPDATE totals SET events = 0');
    await log.check();
    expect(await log.stats()).toMatchObject({ events: 0, last: 1 });
    expect(await log.verify()).toEqual([]);
    expect((await outcome(log.append({ ...large, id: 'second' }))).recorded).toBe(true);
  });

  it('reads again what was locked for a moment', async () => {
    const other = openDirectly(join(folder.path, 'other.db'));
    other.exec('CREATE TABLE others (name)');
    const reader = openDirectly(join(folder.path, 'other.db'));
    reader.exec('PRAGMA busy_timeout = 0');
    const all = reader.prepare('SELECT * FROM others');
    other.exec('BEGIN EXCLUSIVE');
    const database = await Database.open({ file: file() });
    const read = jest.fn(() => 1).mockImplementationOnce(() => all.all().length);
    expect(await database.read(read)).toBe(1);
    expect(read).toHaveBeenCalledTimes(2);
    for (const one of [database, reader, other]) one.close();
  });

  it('is not open while its files are away, even for a moment', async () => {
    const { statSync } = fs;
    const away = jest.spyOn(fs, 'statSync').mockReturnValue(undefined);
    await expect(Database.open({ file: file() })).rejects.toThrow('the file of the log is not there any more');
    away.mockRestore();
    expect(statSync(file()).size).toBeGreaterThan(0);
  });

  it('is not made anew by a thread that takes the place of one that ended while the folder was moved away, and holds no file when it is closed', async () => {
    const started = startedThreads();
    const data = join(folder.path, 'data');
    const log = await open({ file: join(data, 'events.db') });
    await log.append(newEvent());
    await rename(data, `${data}-away`);
    await started()[0]?.terminate();
    await expect(log.check()).rejects.toMatchObject({
      cause: { message: 'the file of the log is not there any more' },
    });
    await rename(`${data}-away`, data);
    await log.check();
    expect((await log.stats()).events).toBe(1);
    await log.close();
    expect(await readdir(data)).toEqual(['events.db']);
  });

  it('is opened by another thread once one has failed, before and after that ends', async () => {
    const started = startedThreads();
    const log = await open();
    const [failed] = started();
    failed?.emit('error', new Error('out of memory'));
    await log.append(newEvent());
    await failed?.terminate();
    await log.append(newEvent());
    expect(started()).toHaveLength(2);
  });

  it('has the events of a backup once it is restored, also by time, and gives no position again', async () => {
    const log = await open();
    const found = async () =>
      (await log.scan({ after: 0, since: 1000, limit: 10 })).map(({ id, position }) => [id, position]);
    await log.append(newEvent({ id: 'kept', recordedAt: 1000 }));
    await log.upkeep?.backup(join(folder.path, 'backup.db'));
    await log.forget([1]);
    await log.append(newEvent({ id: 'replaced', recordedAt: 1000 }));
    expect(await found()).toEqual([['replaced', 2]]);
    await restoreSqliteLog(join(folder.path, 'backup.db'), file());
    await log.append(newEvent({ id: 'next', recordedAt: 1000 }));
    expect(await found()).toEqual([
      ['kept', 1],
      ['next', 3],
    ]);
    // Also those that are forgotten in the backup, in a log that gave fewer.
    const [later = '', other = ''] = ['later.db', 'other.db'].map((name) => join(folder.path, name));
    await log.forget([1, 3]);
    await log.upkeep?.backup(later);
    expect(await restoreSqliteLog(later, other)).toBeUndefined();
    const restored = await open({ file: other });
    await restored.append(newEvent());
    expect(await restored.stats()).toMatchObject({ events: 1, last: 4 });
  });

  it('overwrites the events that it deletes', async () => {
    const log = await open();
    const { id } = await outcome(log.append(newEvent({ id: 'an id to forget', data: '"data":"a text to forget"' })));
    await log.append(newEvent());
    await log.forget([1]);
    await log.close();
    const bytes = await readFile(file());
    expect([bytes.includes(id), bytes.includes('a text to forget')]).toEqual([false, false]);
  });
});
