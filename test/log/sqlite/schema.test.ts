import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { SqliteEventLog } from '../../../src/log/sqlite/event-log';
import { useTemporaryFolder } from '../../support/temporary-folder';

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

  it('of a new file has the current version and lets the file shrink', async () => {
    await (await SqliteEventLog.open({ file })).close();
    expect([pragma('user_version'), pragma('auto_vacuum'), pragma('journal_mode')]).toEqual([1, 2, 'wal']);
  });

  it.each([0, 2, 9])('of version %i is refused and not changed', async (version) => {
    await (await SqliteEventLog.open({ file })).close();
    const other = new Database(file);
    other.exec(`PRAGMA user_version = ${String(version)}`);
    other.close();
    const before = await readFile(file);
    await expect(SqliteEventLog.open({ file })).rejects.toMatchObject({
      cause: {
        message:
          `The file has schema version ${String(version)}, and this program works with version 1 only. ` +
          'Use the version of the program that wrote it. Nothing was changed.',
      },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('of another program is refused and not changed', async () => {
    const other = new Database(file);
    other.exec('CREATE TABLE customers (name TEXT); PRAGMA user_version = 2');
    other.close();
    const before = await readFile(file);
    await expect(SqliteEventLog.open({ file })).rejects.toMatchObject({
      cause: { message: 'The file is a database of another program. Nothing was changed.' },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });
});
