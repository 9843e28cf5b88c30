import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import threads from 'node:worker_threads';
import { Database } from '../../../src/log/sqlite/database';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { rowOf, SqliteRecorder } from '../../../src/log/sqlite/recorder';
import { outcome, newEvent } from '../../support/events';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { watching } from '../../support/watching';

describe('the database of a log', () => {
  const folder = useTemporaryFolder();
  const file = () => join(folder.path, 'events.db');

  it('waits until a commit is on the disk itself, also where that takes more than fsync', () => {
    const database = new Database({ file: file() });
    expect(database.prepare('PRAGMA fullfsync').get()).toEqual({ fullfsync: 1 });
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  it('answers a repetition of two events with the id of the first', async () => {
    const log = await openSqliteLog({ file: file() });
    await log.append(newEvent({ id: 'first', webhookId: 'delivery' }));
    await log.append(newEvent({ id: 'second', source: '/sender' }));
    const both = newEvent({ id: 'second', source: '/sender', webhookId: 'delivery' });
    expect(await outcome(log.append(both))).toEqual({ id: 'first', recorded: false });
    await log.close();
  });

  it('has the lock from the beginning of a transaction that writes, so that what it reads stays true', () => {
    const [one, other] = [new Database({ file: file() }), new Database({ file: file() })];
    one.write(() => {
      expect(() => other.write(() => 1, 0)).toThrow('database is locked');
      expect(other.read(() => 1)).toBe(1);
    });
    expect(other.write(() => 1, 0)).toBe(1);
    for (const database of [one, other]) database.close();
  });

  it('that has room for small events alone cannot take events while a larger one was refused', () => {
    const database = new Database({ file: file(), maxPages: 60 });
    const recorder = new SqliteRecorder(database);
    const large = newEvent({ data: `"data":"${'x'.repeat(400_000)}"` });
    expect(() => recorder.append([rowOf(large)])).toThrow('full');
    expect(() => {
      recorder.check();
    }).toThrow('full');
    recorder.append([rowOf(newEvent())]);
    recorder.check();
    database.close();
  });

  it('tells who watches of an event before the call that recorded it is answered', async () => {
    const log = await openSqliteLog({ file: file() });
    const watch = watching(log);
    await watch.reaches(0);
    for (let i = 1; i <= 10; i++) {
      await log.append(newEvent());
      expect(watch.told.at(-1)).toBe(i);
    }
    await log.close();
  });

  it('is not made anew by a thread that takes the place of one that ended while the folder was moved away', async () => {
    const { Worker } = threads;
    const started = jest.spyOn(threads, 'Worker').mockImplementation((...values) => new Worker(...values));
    const data = join(folder.path, 'data');
    const log = await openSqliteLog({ file: join(data, 'events.db') });
    await log.append(newEvent());
    await rename(data, `${data}-away`);
    await (started.mock.results[0]?.value as threads.Worker).terminate();
    await expect(log.stats()).rejects.toMatchObject({ cause: { message: 'the file is not there' } });
    await rename(`${data}-away`, data);
    expect((await log.stats()).events).toBe(1);
    await log.close();
    started.mockRestore();
  });

  it('overwrites the events that it deletes', async () => {
    const log = await openSqliteLog({ file: file() });
    const { id } = await outcome(log.append(newEvent({ id: 'an id to forget', data: '"data":"a text to forget"' })));
    await log.append(newEvent());
    await log.forget([1]);
    await log.close();
    const bytes = await readFile(file());
    expect([bytes.includes(id), bytes.includes('a text to forget')]).toEqual([false, false]);
  });
});
