import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewEvent } from '../../../src/events/stored-event';
import { Database } from '../../../src/log/sqlite/database';
import { openSqliteLog, restoreSqliteLog } from '../../../src/log/sqlite/event-log';
import { provideSchema } from '../../../src/log/sqlite/schema';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { outcome, newEvent } from '../../support/events';
import { directly, openDirectly, select } from '../../support/sqlite';

describe('the schema of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  it.each([0, 3, 6])('of version %i is refused and not changed', async (version) => {
    const made = openDirectly(file);
    provideSchema(made, true);
    made.exec(`PRAGMA user_version = ${String(version)}`);
    made.close();
    const before = await readFile(file);
    await expect(Database.open({ file })).rejects.toThrow(
      `The file has schema version ${String(version)}, and this program works with versions 4 and 5 only. ` +
        'Use the version of the program that wrote it. Nothing was changed.',
    );
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('of version 4 is brought up to date, and restored from a backup, with every event', async () => {
    const made = await openSqliteLog({ file });
    await made.append(...['a', 'b', 'c'].map((id) => newEvent({ id, recordedAt: 1000 })));
    await made.close();
    directly(
      file,
      `DROP INDEX events_time; DROP INDEX events_type;
       ALTER TABLE events ADD COLUMN checksum INTEGER;
       ALTER TABLE totals ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
       ALTER TABLE totals ADD COLUMN previous_stamp TEXT NOT NULL DEFAULT '';
       CREATE TABLE minutes (minute INTEGER PRIMARY KEY) STRICT;
       CREATE TABLE identity (id TEXT NOT NULL) STRICT;
       PRAGMA user_version = 4`,
    );
    // The service of the version that wrote it may be running.
    await expect(Database.open({ file, create: false })).rejects.toThrow('The file has an older schema');
    expect(select(file, 'PRAGMA file.user_version')).toEqual([{ user_version: 4 }]);
    await restoreSqliteLog(file, join(folder.path, 'restored.db'));
    const restored = await openSqliteLog({ file: join(folder.path, 'restored.db') });
    expect(await restored.stats()).toMatchObject({ events: 3 });
    await restored.close();
    const log = await openSqliteLog({ file });
    const events = await log.scan({ after: 0, limit: 100 });
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(await outcome(log.append(events[0] as NewEvent))).toEqual({ id: 'a', recorded: false });
    expect((await outcome(log.append(newEvent({ id: 'd', recordedAt: 2000 })))).recorded).toBe(true);
    expect(await log.counts([0, 1000, 2000, 3000])).toEqual([0, 3, 1]);
    expect(await log.verify()).toEqual([]);
    await log.close();
    expect(select(file, 'PRAGMA file.user_version')).toEqual([{ user_version: 5 }]);
  });

  it.each([
    [
      'another program',
      'CREATE TABLE customers (name TEXT); PRAGMA user_version = 2',
      'The file is a database of another',
    ],
    ['no program, for one who only reads,', '', 'the file holds no event log'],
  ])('of %s is refused and not changed', async (_whose, sql, problem) => {
    await writeFile(file, '');
    directly(file, sql);
    const before = await readFile(file);
    await expect(Database.open({ file, create: false })).rejects.toThrow(problem);
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('is not taken for that of another program while another process makes it', () => {
    const [own, other] = [openDirectly(file), openDirectly(file)];
    other.exec('PRAGMA busy_timeout = 0');
    let asked = 0;
    const prepare = (sql: string) => {
      if (++asked === 2) expect(() => provideSchema(other, true)).toThrow('database is locked');
      return own.prepare(sql);
    };
    provideSchema({ isTransaction: true, exec: (sql) => own.exec(sql), prepare }, true);
    for (const each of [own, other]) each.close();
  });
});
