import fs from 'node:fs';
import { readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import type { EventLog } from '../../../src/log/event-log';
import { Database, withoutPath, type SqliteOptions } from '../../../src/log/sqlite/database';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { SqliteReader } from '../../../src/log/sqlite/reader';
import { TYPE } from '../../../src/log/sqlite/schema';
import { outcome, newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { directly, openDirectly } from '../../support/sqlite';

describe('the database of a log', () => {
  const logs: EventLog[] = [];
  afterEach(() => Promise.all(logs.splice(0).map((log) => log.close())));
  const folder = useTemporaryFolder();
  const file = (suffix = '') => join(folder.path, `events.db${suffix}`);
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
    expect(database.prepare('PRAGMA journal_size_limit').get()).toEqual({ journal_size_limit: 16_777_216 });
    database.close();
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

  it('lets an event that has waited for its commit wait no longer for the lock', async () => {
    const log = await open();
    const other = openDirectly(file());
    other.exec('BEGIN IMMEDIATE');
    jest.spyOn(performance, 'now').mockReturnValueOnce(-60_000);
    await expect(log.append(newEvent())).rejects.toHaveProperty('cause.message', 'database is locked');
    other.close();
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
    expect([(await log.stats()).events, await log.newest()]).toEqual([0, 1]);
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
    const ofFolders = (path: fs.PathLike) => (String(path).includes('.db') ? undefined : statSync(path));
    jest.spyOn(fs, 'statSync').mockImplementation(ofFolders);
    await expect(Database.open({ file: file() })).rejects.toThrow('the file of the log is not there any more');
    expect(statSync(file()).size).toBeGreaterThan(0);
  });

  it('is not opened by another thread where another file, or an empty one, takes the place of its file meanwhile', async () => {
    const { files } = await Database.open({ file: file() });
    const other = Database.open({ file: file(), opened: files });
    fs.renameSync(file(), file('-away'));
    fs.copyFileSync(file('-away'), file());
    await expect(other).rejects.toThrow('another file has taken the place of the file of the log');
    fs.renameSync(file('-away'), file());
    for (const suffix of ['', '-wal']) fs.truncateSync(file(suffix));
    await expect(Database.open({ file: file(), opened: files })).rejects.toThrow('the file holds no event log');
  });

  it('is named to no caller', () => {
    const refusal = { code: 'EACCES', syscall: 'stat' };
    expect(withoutPath(Object.assign(new Error(`EACCES: permission denied, stat '${file()}'`), refusal))).toBe(
      'EACCES',
    );
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
    expect(await log.read({ limit: 9 })).toHaveLength(1);
    await log.close();
    expect(await readdir(data)).toEqual(['events.db']);
    expect(started().filter(({ threadId }) => threadId !== -1)).toEqual([]);
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

  it.each(['', '-wal'])(
    'is not opened, and says why without a path, which callers must not see (%s)',
    async (suffix) => {
      await symlink(`events.db${suffix}`, file(suffix));
      const message = 'ELOOP. Set EVENT_LOG to sqlite: and the path of a file.';
      await expect(open()).rejects.toMatchObject({ cause: { message } });
    },
  );

  it.each(['the file', 'its folder'])('is not opened if this user cannot write %s', async (what) => {
    await writeFile(file(), '');
    // root may write every file.
    jest.spyOn(fs, 'accessSync').mockImplementation((path) => {
      if (path === (what === 'the file' ? file() : folder.path))
        throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'access' });
    });
    await expect(Database.open({ file: file() })).rejects.toThrow(/^the user \S+ has no permission\. Set EVENT_LOG/);
  });

  it('is read on a read-only file system, where SQLite can make no file beside it', async () => {
    await (await openSqliteLog({ file: file() })).close();
    jest.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw Object.assign(new Error('EROFS'), { code: 'EROFS', syscall: 'access' });
    });
    await expect(Database.open({ file: file() })).rejects.toThrow('its file system is read-only');
    const database = await Database.open({ file: file(), create: false });
    expect(await database.read(() => database.number('SELECT count(*) FROM events'))).toBe(0);
    expect(await readdir(folder.path)).toEqual(['events.db']);
    database.close();
  });

  it('has the names of its files, and what a killed process left in them, on disk once it is open, and that they were cut', async () => {
    const synced = jest.spyOn(fs, 'openSync');
    const path = join(folder.path, 'a', 'b', 'events.db');
    const database = await Database.open({ file: path });
    expect(database.emptyWal()).toBe(true);
    const wal = [`${path}-wal`, join(folder.path, 'a', 'b')];
    const names = synced.mock.calls.slice(-6).map(([name]) => name);
    expect(names).toEqual([folder.path, join(folder.path, 'a'), ...wal, ...wal]);
    database.close();
  });

  it('finds events by an index, whatever the query', async () => {
    (await Database.open({ file: file() })).close();
    const database = openDirectly(file());
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

  it('finds where a time begins and ends by its index, and looks at none of the events beyond', async () => {
    const database = await Database.open({ file: file() });
    const prepare = jest.spyOn(database, 'prepare');
    await new SqliteReader(database).search({ limit: 1, from: 5, to: 9 });
    const asked = prepare.mock.calls.flat().filter((sql) => sql.includes('(sequence)'));
    const plans = asked.map((sql) => database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(5, 9));
    expect(JSON.stringify(plans)).toContain('COVERING INDEX events_time');
    database.close();
  });
});
