import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewEvent } from '../../../src/events/stored-event';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
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
    await (await openSqliteLog({ file })).close();
    expect([pragma('user_version'), pragma('auto_vacuum'), pragma('journal_mode')]).toEqual([4, 2, 'wal']);
  });

  it.each([0, 5, 9])('of version %i is refused and not changed', async (version) => {
    await (await openSqliteLog({ file })).close();
    directly(file, `PRAGMA user_version = ${String(version)}`);
    const before = await readFile(file);
    await expect(openSqliteLog({ file })).rejects.toMatchObject({
      cause: {
        message:
          `The file has schema version ${String(version)}, and this program works with versions 1 to 4 only. ` +
          'Use the version of the program that wrote it. Nothing was changed.',
      },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });

  it('of version 1 is brought up to date, with every event', async () => {
    await cp(join(__dirname, '../../fixtures/log-version-1'), folder.path, { recursive: true });
    const log = await openSqliteLog({ file });
    const events = await log.scan({ after: 0, limit: 100 });
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'late', 'c']);
    expect(await log.append({ ...(events[0] as NewEvent), idempotencyKey: undefined })).toEqual({
      id: 'a',
      recorded: false,
    });
    expect((await log.append({ ...(events[0] as NewEvent), id: 'new', idempotencyKey: undefined })).recorded).toBe(
      true,
    );
    const rates = await log.rates({ until: 240_000, span: 60_000, spans: 4 });
    expect(rates.map((rate) => rate.events)).toEqual([3, 0, 1, 1]);
    expect(await log.verify()).toEqual([]);
    expect(await log.forget([2])).toEqual([2]);
    expect(await log.verify()).toEqual([]);
    await log.close();
    expect(pragma('user_version')).toBe(4);
  });

  it('of version 2 is brought up to date, with every event; one that is only read stays as it is', async () => {
    await cp(join(__dirname, '../../fixtures/log-version-2'), folder.path, { recursive: true });
    const before = await readFile(file);
    const reader = await openSqliteLog({ file, readOnly: true });
    expect((await reader.scan({ after: 0, limit: 100 })).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(await reader.verify()).toEqual([]);
    await reader.close();
    expect((await readFile(file)).equals(before)).toBe(true);

    const log = await openSqliteLog({ file });
    const [first] = await log.scan({ after: 0, limit: 100 });
    expect(await log.append({ ...(first as NewEvent), id: 'again' })).toEqual({ id: 'a', recorded: false });
    expect((await log.append({ ...(first as NewEvent), id: 'd', idempotencyKey: undefined })).recorded).toBe(true);
    expect(await log.verify()).toEqual([]);
    directly(file, "UPDATE events SET arrival = '{ }' WHERE id IN ('c', 'd')");
    expect(await log.verify()).toEqual([expect.stringMatching(/^Event 0*5 is not as it was recorded: /)]);
    await log.close();
    expect(pragma('user_version')).toBe(4);
  });

  it('of version 3 is brought up to date without touching its events; one that is only read stays as it is', async () => {
    await cp(join(__dirname, '../../fixtures/log-version-3'), folder.path, { recursive: true });
    const before = await readFile(file);
    const reader = await openSqliteLog({ file, readOnly: true });
    const events = await reader.scan({ after: 0, limit: 100 });
    expect(events.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(await reader.verify()).toEqual([]);
    await reader.close();
    expect((await readFile(file)).equals(before)).toBe(true);

    const log = await openSqliteLog({ file });
    expect(await log.append({ ...(events[0] as NewEvent), id: 'again' })).toEqual({ id: 'a', recorded: false });
    const added = { ...(events[1] as NewEvent), id: 'd' };
    expect((await log.append(added)).recorded).toBe(true);
    expect(await log.scan({ after: 0, limit: 100 })).toEqual([...events, { ...added, position: 5 }]);
    expect(await log.verify()).toEqual([]);
    await log.close();
    expect(pragma('user_version')).toBe(4);
    // Processes of version 3 that have the file open fill their answers by these columns.
    const sizes = rowsOf(file, 'SELECT sequence, head_bytes AS head, data_bytes AS data FROM file.events');
    expect(sizes.slice(0, 3)).toEqual([
      { sequence: 1, head: 95, data: 0 },
      { sequence: 2, head: 95, data: 19 },
      { sequence: 3, head: 95, data: 9 },
    ]);
    const [, , , last] = sizes as { head: number; data: number }[];
    expect(last?.head).toBeGreaterThanOrEqual(95);
    expect(last?.data).toBeGreaterThanOrEqual(19);
  });

  it('of another program is refused and not changed', async () => {
    directly(file, 'CREATE TABLE customers (name TEXT); PRAGMA user_version = 2');
    const before = await readFile(file);
    await expect(openSqliteLog({ file })).rejects.toMatchObject({
      cause: { message: 'The file is a database of another program. Nothing was changed.' },
    });
    expect((await readFile(file)).equals(before)).toBe(true);
  });
});
