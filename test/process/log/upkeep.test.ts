import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLog } from '../../../src/log/event-log';
import { openSqliteLog, restoreSqliteLog } from '../../../src/log/sqlite/event-log';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { outcome, newEvent } from '../../support/events';
import { directly } from '../../support/sqlite';
import { TOOL } from '../../support/tool';

describe('the upkeep of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  const logs: EventLog[] = [];
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()));
  });

  const open = async (): Promise<EventLog> => {
    const log = await openSqliteLog({ file });
    logs.push(log);
    return log;
  };

  /** Which of some texts stand in the files of the log. */
  const remaining = async (texts: readonly string[]): Promise<string[]> => {
    const files = await Promise.all((await readdir(folder.path)).map((name) => readFile(join(folder.path, name))));
    return texts.filter((text) => files.some((bytes) => bytes.includes(text)));
  };

  it('leaves nothing of what it forgets in any file, while another process has the log open', async () => {
    const [log, tool] = [await open(), await open()];
    // Ids in no order: their index splits pages all over, and moves what is in them.
    const marked = Array.from({ length: 2000 }, (_, i) => `mark-${String((i * 7919) % 2000).padStart(4, '0')}-`);
    const size = (i: number): number => (i % 500 === 0 ? 30_000 : (i * 37) % 900);
    for (let i = 0; i < marked.length; i += 500) {
      await log.append(
        ...marked.slice(i, i + 500).map((mark, j) =>
          newEvent({
            id: mark,
            source: `/${mark}`,
            data: `"data":"${mark}${'x'.repeat(size(i + j))}${mark}"`,
            arrival: `{"path":"${mark}"}`,
            idempotencyKey: `${mark}key`,
            webhookId: `${mark}hook`,
          }),
        ),
      );
    }
    const forgotten = new Set<number>();
    for (const step of [3, 2, 7]) {
      const some = marked.map((_, i) => i).filter((i) => i % step === 0 && !forgotten.has(i));
      for (const i of some) forgotten.add(i);
      expect(await tool.forget(some.map((i) => i + 1))).toHaveLength(some.length);
      await tool.upkeep?.rewrite();
      expect(await remaining(some.map((i) => marked[i] ?? ''))).toEqual([]);
    }
    const kept = marked.filter((_, i) => !forgotten.has(i));
    expect(await remaining(kept)).toEqual(kept);
    expect(await log.verify()).toEqual([]);
    expect(await outcome(log.append(newEvent({ id: kept[0] ?? '', source: `/${kept[0] ?? ''}` })))).toMatchObject({
      recorded: false,
    });
  });

  it('gives the space of forgotten events back while another process records', async () => {
    const [log, tool] = [await open(), await open()];
    const data = `"data":"${'x'.repeat(20_000)}"`;
    await log.append(...Array.from({ length: 500 }, () => newEvent({ data })));
    directly(file, 'DELETE FROM events WHERE sequence <= 400; UPDATE totals SET events = events - 400');
    const full = (await stat(file)).size;
    let recording = true;
    const writer = (async () => {
      for (let i = 0; recording && i < 300; i++) await log.append(newEvent());
    })();
    const given = await tool.upkeep?.compact();
    recording = false;
    await writer;
    expect(given).toBeGreaterThan(7_000_000);
    expect((await stat(file)).size).toBeLessThan(full - 7_000_000);
    expect(await log.verify()).toEqual([]);
    expect(await tool.upkeep?.compact()).toBeLessThan(100_000);
  });

  const OTHER_INDEX = `UPDATE sqlite_schema SET sql = replace(sql, 'IS NOT NULL', 'IS NULL') WHERE name = 'events_webhook_id'`;
  it.each([
    [
      'an event that is missing',
      'DELETE FROM events WHERE sequence = 2',
      /^The log holds 2 events, and its total says 3\.$/,
    ],
    ['an index that does not agree', `PRAGMA writable_schema = ON; ${OTHER_INDEX}`, /^The file is .*events_webhook_id/],
  ])('finds %s', async (_what, sql, finding) => {
    const making = await openSqliteLog({ file });
    for (let i = 0; i < 3; i++) await making.append(newEvent({ idempotencyKey: String(i) }));
    await making.close();
    directly(file, sql);
    const log = await open();
    expect(await log.verify()).toContainEqual(expect.stringMatching(finding));
  });

  it('restores no backup that is damaged, missing or something else, and changes nothing then', async () => {
    const log = await open();
    await log.append(newEvent({ id: 'kept' }));
    const [damaged, notes, missing] = ['damaged.db', 'notes.txt', 'missing.db'].map((name) => join(folder.path, name));
    await log.upkeep?.backup(damaged ?? '');
    await writeFile(damaged ?? '', Buffer.alloc(4096, 0xff), { flag: 'r+' });
    await writeFile(notes ?? '', 'these are my notes '.repeat(100));
    for (const other of [damaged, notes, missing])
      await expect(restoreSqliteLog(other ?? '', file)).rejects.toThrow(other);
    expect((await log.scan({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual(['kept']);
    expect((await readdir(folder.path)).filter((name) => /missing|replaced/.test(name))).toEqual([]);
  });

  it('leaves nothing of a backup behind where the disk has no room for it', async () => {
    const log = await open();
    for (let i = 0; i < 8; i++) await log.append(newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }));
    const script = `ulimit -f 4000; exec '${process.execPath}' '${TOOL}' backup full/copy.db`;
    await mkdir(join(folder.path, 'full'));
    const options = { cwd: folder.path, env: { EVENT_LOG: 'sqlite:events.db' }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync('sh', ['-c', script], options);
    expect([status, stderr]).toEqual([1, 'The event log could not be copied: disk I/O error\n']);
    expect(await readdir(join(folder.path, 'full'))).toEqual([]);
  });
});
