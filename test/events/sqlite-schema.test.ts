import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { SqliteEventLog } from '../../src/events/sqlite-event-log';
import { useTemporaryFolder } from '../support/service';
import { EVERYTHING, newEvent } from './event-log-suite';

describe('the schema of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  const pragma = (name: string): unknown => {
    const database = new Database(file);
    const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown>;
    database.close();
    return row[name];
  };

  it('of a new file is the current version, and gives space back', async () => {
    await (await SqliteEventLog.open({ file })).close();
    expect([pragma('user_version'), pragma('auto_vacuum'), pragma('journal_mode')]).toEqual([2, 2, 'wal']);
  });

  it('of version 1 is migrated at start, with everything that it holds', async () => {
    // Written by the first version of the program: three events, the last one of which was deleted by hand.
    await copyFile(join(__dirname, '..', 'fixtures', 'events-version-1.db'), file);
    const log = await SqliteEventLog.open({ file });
    const stored = await log.scan(0n, 10);
    expect(stored).toEqual([
      {
        sequence: '00000000000000000001',
        id: 'first',
        source: '/old',
        recordedAt: Date.parse('2026-11-20T20:00:00.123Z'),
        attributes: '{"specversion":"1.0","id":"first","source":"/old","type":"t","time":"2026-11-20T20:00:00.123Z"}',
        data: '"data":{"a":1}',
        arrival: '{"method":"POST"}',
        idempotencyKey: 'key-1',
        webhookId: undefined,
      },
      expect.objectContaining({ sequence: '00000000000000000002', id: 'second', webhookId: 'hook-2', data: undefined }),
    ]);
    expect(await log.count()).toBe(2);
    expect(await log.append(newEvent({ idempotencyKey: 'key-1' }))).toEqual({ id: 'first', recorded: false });
    await log.append(newEvent({ id: 'next' }));
    const next = (await log.read(EVERYTHING)).at(-1);
    expect([next?.id, BigInt(next?.sequence ?? 0) > 3n]).toEqual(['next', true]);
    await log.close();
    expect(pragma('user_version')).toBe(2);
  });

  it('of version 1 stays as it is where the migration fails', async () => {
    await copyFile(join(__dirname, '..', 'fixtures', 'events-version-1.db'), file);
    const broken = new Database(file);
    broken.exec("UPDATE events SET attributes = json_remove(attributes, '$.time') WHERE id = 'second'");
    broken.close();
    await expect(SqliteEventLog.open({ file })).rejects.toThrow('cannot be opened');
    expect(pragma('user_version')).toBe(0);
    const database = new Database(file);
    expect(database.prepare('SELECT count(*) AS events FROM events').get()).toMatchObject({ events: 2 });
    database.close();
  });

  it('of a later version stops the start and is not touched', async () => {
    await (await SqliteEventLog.open({ file })).close();
    const later = new Database(file);
    later.exec('PRAGMA user_version = 9');
    later.close();
    const before = await readFile(file);
    await expect(SqliteEventLog.open({ file })).rejects.toMatchObject({
      cause: {
        message:
          'It has schema version 9 and this program knows versions up to 2: a later version of the program has written it. Nothing was changed.',
      },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('of another program stops the start and is not touched', async () => {
    const other = new Database(file);
    other.exec('CREATE TABLE customers (name TEXT); PRAGMA user_version = 2');
    other.close();
    const before = await readFile(file);
    await expect(SqliteEventLog.open({ file })).rejects.toMatchObject({
      cause: { message: 'It is a database of another program. Nothing was changed.' },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });
});
