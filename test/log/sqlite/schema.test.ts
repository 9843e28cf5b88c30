import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteEventLog } from '../../../src/log/sqlite/event-log';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { directly, rowsOf } from '../../support/sqlite';

describe('the schema of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  const pragma = (name: string): unknown => {
    const [row] = rowsOf(file, `PRAGMA file.${name}`);
    return (row as Record<string, unknown>)[name];
  };

  it('of a new file has the current version and lets the file shrink', async () => {
    await (await SqliteEventLog.open({ file })).close();
    expect([pragma('user_version'), pragma('auto_vacuum'), pragma('journal_mode')]).toEqual([1, 2, 'wal']);
  });

  it.each([0, 2, 9])('of version %i is refused and not changed', async (version) => {
    await (await SqliteEventLog.open({ file })).close();
    directly(file, `PRAGMA user_version = ${String(version)}`);
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
    directly(file, 'CREATE TABLE customers (name TEXT); PRAGMA user_version = 2');
    const before = await readFile(file);
    await expect(SqliteEventLog.open({ file })).rejects.toMatchObject({
      cause: { message: 'The file is a database of another program. Nothing was changed.' },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });
});
