import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { FileLog, EventLogError } from '../../../src/log/event-log';
import { SqliteConnection } from '../../../src/log/sqlite/connection';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { eventually, succeeds } from '../../support/eventually';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { everyEvent, newEvent } from '../../support/events';
import { directly, holdInProcess, openDirectly, rowsOf } from '../../support/sqlite';

const MOVED = 'the file is not there any more';
const REPLACED = 'another file has taken the place of the file';
const OVERWRITTEN = 'the content of the file was replaced';

describe('the files of a SQLite event log', () => {
  const logs: FileLog[] = [];
  let file: string;
  let log: FileLog;
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((one) => one.close()));
  });
  // Afterwards: the folder is removed once the logs in it are closed.
  const folder = useTemporaryFolder();
  beforeEach(async () => {
    file = path('events.db');
    log = await open(file);
  });

  const path = (name: string): string => join(folder.path, name);

  const open = async (name: string): Promise<FileLog> => {
    const opened = await openSqliteLog({ file: name });
    logs.push(opened);
    return opened;
  };

  /** Records events, and returns the ids of those that were answered. */
  const record = async (count: number, into = log): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      const events = Array.from({ length: Math.min(100, count - ids.length) }, () =>
        newEvent({ data: `"data":"${'x'.repeat(500)}"` }),
      );
      ids.push(...(await into.appendAll(events)).map(({ id }) => id));
    }
    return ids;
  };

  const causeOf = async (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'no error',
      (error: unknown) => ((error as EventLogError).cause as Error).message,
    );

  /** Every id in a log that no process has open. It has to be whole. */
  const idsIn = async (name: string): Promise<string[]> => {
    const opened = await openSqliteLog({ file: name });
    const ids = (await opened.scan({ after: 0, limit: 100_000 })).map(({ id }) => id);
    await opened.close();
    expect(rowsOf(name, 'PRAGMA file.integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
    return ids;
  };

  /** A log of its own in another file. */
  const makeOther = async (name: string, count = 3): Promise<string[]> => {
    const other = await openSqliteLog({ file: path(name) });
    const ids = await record(count, other);
    await other.close();
    return ids;
  };

  /** Copies the files as a kill at this moment would leave them. */
  const kill = async (): Promise<string> => {
    await mkdir(path('killed'));
    for (const suffix of ['', '-wal']) await copyFile(file + suffix, path(`killed/events.db${suffix}`));
    return path('killed/events.db');
  };

  /** The ids in the files that hold what only a lost write-ahead log held. */
  const idsInLost = async (beside = folder.path): Promise<string[]> => {
    const names = (await readdir(beside)).filter((name) => /\.lost-[^.]*Z-*$/.test(name) && !name.includes('-wal.'));
    return (await Promise.all(names.map((name) => idsIn(join(beside, name))))).flat();
  };

  /** Resolves once the log has noticed that its files were lost, by itself or by this call, which it refuses at most once. */
  const notices = async (...reasons: string[]): Promise<void> => {
    expect([...reasons, 'no error']).toContain(await causeOf(log.check()));
    await eventually('events can be recorded', () => succeeds(log.check()));
  };

  /** What a log reports of the file that it loses. */
  const reportOf = (lossy: FileLog): Promise<string> =>
    new Promise((resolve) => {
      lossy.observe({ lost: resolve });
    });

  it('are not taken for replaced while a reader holds back what is written to the file', async () => {
    const reader = openDirectly(file);
    const writer = openDirectly(file);
    for (let i = 0; i < 40; i++) {
      await record(3);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM events').get();
      await record(1);
      writer.exec('PRAGMA wal_checkpoint(PASSIVE)');
      await record(1);
      expect((await log.stats()).events).toBe(5 * (i + 1));
      await (await open(file)).close();
      reader.exec('ROLLBACK');
    }
    reader.close();
    writer.close();
  });

  describe('while it is open', () => {
    it.each([3, 3000])(
      'moved away and replaced by another log, leave two whole logs, after %i events',
      async (count) => {
        const before = await record(count);
        const others = await makeOther('other.db');
        await rename(file, path('moved.db'));
        await rename(path('other.db'), file);
        // The log may look between the two renames, when there is no file.
        await notices(MOVED, REPLACED);
        const after = await record(3);
        await log.close();
        expect(await idsIn(file)).toEqual([...others, ...after]);
        expect(new Set([...(await idsIn(path('moved.db'))), ...(await idsInLost())])).toEqual(new Set(before));
      },
    );

    it('keep every answered event when the log is closed after they were moved and replaced', async () => {
      const before = await record(20);
      const others = await makeOther('other.db');
      await rename(file, path('moved.db'));
      await rename(path('other.db'), file);
      await log.close();
      expect(await idsIn(file)).toEqual(others);
      expect(new Set([...(await idsIn(path('moved.db'))), ...(await idsInLost())])).toEqual(new Set(before));
    });

    it('are whole where -wal is removed after a reader kept it from being written back completely', async () => {
      const before = await record(6000);
      const reader = openDirectly(file);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM events').get();
      before.push(...(await record(6000)));
      reader.exec('ROLLBACK');
      reader.close();
      await unlink(`${file}-wal`);
      expect(await causeOf(log.append(newEvent()))).toMatch(
        /^the write-ahead log of the file was removed or replaced$/,
      );
      await eventually('events can be recorded', () => succeeds(log.check()));
      const after = await record(1);
      await log.close();
      expect(await idsIn(file)).toEqual([...before, ...after]);
    });

    it('are not taken for complete if another program was writing back as they were opened', async () => {
      await record(50);
      const killed = await kill();
      const reader = openDirectly(killed);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM events').get();
      const binding = require.resolve('@photostructure/sqlite');
      const program = `const { DatabaseSync } = require(${JSON.stringify(binding)});
        new DatabaseSync(${JSON.stringify(killed)}, { timeout: 20_000 }).exec('PRAGMA wal_checkpoint(TRUNCATE)');`;
      const other = spawn(process.execPath, ['-e', program]);
      const ended = once(other, 'exit');
      await eventually(
        'the other program writes back',
        () => (rowsOf(killed, 'PRAGMA file.wal_checkpoint(NOOP)') as { checkpointed: number }[])[0]?.checkpointed !== 0,
      );
      const connection = new SqliteConnection({ file: killed });
      await unlink(`${killed}-wal`);
      expect(connection.saveLost(() => undefined)).toContain('could not be kept');
      reader.exec('ROLLBACK');
      reader.close();
      expect(await ended).toEqual([0, null]);
    });

    it.each(['-wal', '-shm'])('lose no answered event where %s is removed', async (suffix) => {
      const before = await record(50);
      await unlink(file + suffix);
      expect(await causeOf(log.check())).toMatch(
        /^the (index of the )?write-ahead log .*was removed or replaced$|^no error$/,
      );
      await eventually('events can be recorded', () => succeeds(log.check()));
      const after = await record(5);
      const kept = new Set([...(await idsIn(await kill())), ...(await idsInLost())]);
      expect(kept).toEqual(new Set([...before, ...after]));
    });

    it('leave what only the write-ahead log held in a file beside the log, and report that', async () => {
      const written = await record(5);
      await log.close();
      log = await open(file);
      const held = await record(3);
      const report = reportOf(log);
      await unlink(`${file}-wal`);
      expect(await report).toMatch(
        /The events that only its write-ahead log held are in .*\.lost-[^.]*; some of them may/,
      );
      await eventually('events can be recorded', () => succeeds(log.check()));
      await log.close();
      expect(await idsInLost()).toEqual(held);
      expect(await idsIn(file)).toEqual(written);
    });

    it('report at once that what only the write-ahead log held cannot be saved, and save it once it can be', async () => {
      const gone = path('gone');
      const other = await open(join(gone, 'events.db'));
      const held = await record(3, other);
      const reports: string[] = [];
      other.observe({ lost: (problem) => reports.push(problem) });
      await rename(gone, path('moved'));
      await rm(path('moved'), { recursive: true });
      await eventually('it is reported', () => reports.length > 0);
      expect(reports).toEqual([
        `${MOVED}. Events that only its write-ahead log held could not be saved: the folder of the file does not exist`,
      ]);
      await mkdir(gone);
      await eventually('they are saved', () => reports.length > 1);
      expect(reports[1]).toMatch(
        /The events that only its write-ahead log held are in .*; some of them may be in the log/,
      );
      expect(await idsInLost(gone)).toEqual(held);
    });

    it('lose nothing of what a process that was killed had written before', async () => {
      const before = await record(5);
      const killed = await kill();
      await copyFile(`${file}-shm`, `${killed}-shm`);
      const next = await open(killed);
      const held = await record(3, next);
      const report = reportOf(next);
      await unlink(`${killed}-wal`);
      expect(await report).toMatch(/The events that only its write-ahead log held are in /);
      await eventually('events can be recorded', () => succeeds(next.check()));
      expect(await idsIn(killed)).toEqual(before);
      expect(await idsInLost(path('killed'))).toEqual(held);
    });

    it.each(['idle', 'recording'])(
      'are left alone by a process that was %s while a copy took their place',
      async (what) => {
        const copied = await record(10);
        await log.backup(path('copy.db'));
        const afterwards = await record(10);
        // As `cp` does it; the docs of earlier versions said so.
        await writeFile(file, await readFile(path('copy.db')));
        for (const suffix of ['-wal', '-shm']) await rm(file + suffix);
        const recorded = what === 'idle' ? [] : await record(5).catch(() => record(5));
        await log.close();
        const ids = await idsIn(file);
        expect(ids).toEqual([...copied, ...recorded]);
        const lost = await idsInLost();
        expect(afterwards.filter((id) => !lost.includes(id))).toEqual([]);
      },
    );

    it('leave what they can of more than is kept in memory, and report that events are missing', async () => {
      const held = await record(3);
      const reader = openDirectly(file);
      reader.exec('BEGIN; SELECT count(*) FROM events');
      // Beyond the 64 MiB that are kept while a reader holds back what is written to the file.
      await log.appendAll(Array.from({ length: 17 }, () => newEvent({ data: `"data":"${'x'.repeat(4_000_000)}"` })));
      const report = reportOf(log);
      await unlink(`${file}-wal`);
      expect(await report).toMatch(/Some of the events .* are in .*\.lost-[^.]*; the others could not be kept/);
      reader.close();
      expect(await idsInLost()).toEqual(held);
    });

    it.each(['-wal', '-shm'])('answer no event that was recorded after %s was removed', async (suffix) => {
      const before = await record(5);
      await unlink(file + suffix);
      const answered = await log.append(newEvent({ id: 'answered' })).then(
        () => true,
        () => false,
      );
      await eventually('events can be recorded', () => succeeds(log.check()));
      const kept = [...(await log.scan({ after: 0, limit: 10 })).map(({ id }) => id), ...(await idsInLost())];
      expect(kept).toEqual(expect.arrayContaining(answered ? [...before, 'answered'] : before));
    });

    it('are not read from once the file is removed', async () => {
      await record(5);
      const reads: (() => Promise<unknown>)[] = [
        () => log.read(everyEvent),
        () => log.scan({ after: 0, limit: 10 }),
        () => log.scan({ after: 0, limit: 10, since: 1 }),
        () => log.stats(),
        () => log.check(),
        () => log.backup(path('copy.db')),
      ];
      for (const read of reads) {
        await eventually('events can be recorded', () => succeeds(log.check()));
        await unlink(file);
        expect([MOVED, 'no error']).toContain(await causeOf(read()));
      }
    });

    it('are read from anew by a second instance', async () => {
      const second = await open(file);
      await record(5);
      expect((await second.stats()).events).toBe(5);
      const others = await makeOther('other.db');
      await rename(path('other.db'), file);
      expect([REPLACED, 'no error']).toContain(await causeOf(second.stats()));
      expect([REPLACED, 'no error']).toContain(await causeOf(log.read(everyEvent)));
      for (const one of [log, second]) {
        await eventually('events can be recorded', () => succeeds(one.check()));
        expect((await one.read(everyEvent)).map(({ id }) => id)).toEqual(others);
      }
    });

    it('keep their events in a folder that is renamed', async () => {
      await mkdir(path('data'));
      const inFolder = await open(path('data/events.db'));
      const before = await record(20, inFolder);
      await rename(path('data'), path('renamed'));
      await eventually('the log has no folder', async () =>
        (await causeOf(inFolder.check())).endsWith('the folder of the file does not exist'),
      );
      expect(await idsIn(path('renamed/events.db'))).toEqual(before);
    });

    it('are followed where a symbolic link is turned to another log', async () => {
      await mkdir(path('a'));
      await mkdir(path('b'));
      await symlink(path('a/events.db'), path('link.db'));
      const linked = await open(path('link.db'));
      const first = await record(20, linked);
      const second = await makeOther('b/events.db');
      // At once: without a file at its path, the log would say that it is not there.
      await symlink(path('b/events.db'), path('new.db'));
      await rename(path('new.db'), path('link.db'));
      expect([REPLACED, 'no error']).toContain(await causeOf(linked.check()));
      await eventually('events can be recorded', () => succeeds(linked.check()));
      expect((await linked.read(everyEvent)).map(({ id }) => id)).toEqual(second);
      const inA = (await readdir(path('a'))).filter((name) => name.startsWith('events.db.lost-') && name.endsWith('Z'));
      const saved = await Promise.all(['events.db', ...inA].map((name) => idsIn(path(`a/${name}`))));
      expect(new Set(saved.flat())).toEqual(new Set(first));
    });

    it.each([0, 32, 5000])('lose no answered event where -wal is cut off after %i bytes', async (length) => {
      const before = await record(20);
      await truncate(`${file}-wal`, length);
      await eventually('events can be recorded', () => succeeds(log.check()));
      const after = await record(5);
      const found = (await log.scan({ after: 0, limit: 100 })).map(({ id }) => id);
      expect(new Set([...found, ...(await idsInLost())])).toEqual(new Set([...before, ...after]));
      await log.close();
      expect(await idsIn(file)).toEqual(found);
    });

    it('are not taken for lost where another connection writes -wal back and empties it', async () => {
      const before = await record(20);
      const report = jest.fn();
      log.observe({ lost: report });
      for (let i = 0; i < 10; i++) {
        directly(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
        await log.check();
        before.push(...(await record(3)));
      }
      expect((await log.scan({ after: 0, limit: 100 })).map(({ id }) => id)).toEqual(before);
      expect(report).not.toHaveBeenCalled();
    });

    it.each([10, 3000])('are given up when the file is truncated, after %i events', async (count) => {
      await record(count);
      await truncate(file);
      await notices(OVERWRITTEN);
      const after = await record(3);
      expect((await log.read(everyEvent)).map(({ id }) => id)).toEqual(after);
      expect((await readdir(folder.path)).filter((name) => name.includes('-wal.lost-'))).toHaveLength(1);
    });

    it.each([
      ['a backup of the log', async () => log.backup(path('copy.db'))],
      ['an older state of the file', async () => copyFile(file, path('copy.db'))],
      ['another log', async () => makeOther('copy.db')],
    ])('are given up, and the new content is kept, when %s is written over the file', async (_what, make) => {
      await record(2000);
      await make();
      await record(2000);
      const copy = await readFile(path('copy.db'));
      const restored = await idsIn(path('copy.db'));
      await writeFile(file, copy);
      await notices(OVERWRITTEN);
      const after = await record(3);
      await log.close();
      expect(await idsIn(file)).toEqual([...restored, ...after]);
    });

    it('are given up when the state that it had before it was last written back is written over the file', async () => {
      const copy = await readFile(file);
      const { mtimeMs } = await stat(file);
      await eventually('the write-ahead log is written back', async () => {
        await record(100);
        return (await stat(file)).mtimeMs !== mtimeMs;
      });
      await writeFile(file, copy);
      await notices(OVERWRITTEN);
      const after = await record(3);
      await log.close();
      expect(await idsIn(file)).toEqual(after);
    });

    it('are given up when an older state is written over the file, and a reader keeps what was written back', async () => {
      const copy = await readFile(file);
      await record(500);
      const reader = openDirectly(file);
      reader.exec('BEGIN; SELECT count(*) FROM events');
      directly(file, 'PRAGMA wal_checkpoint(PASSIVE)');
      const held = await record(100);
      await writeFile(file, copy);
      reader.close();
      await notices(OVERWRITTEN);
      const after = await record(3);
      await log.close();
      expect(await idsIn(file)).toEqual(after);
      expect(await idsInLost()).toEqual(expect.arrayContaining(held));
    });

    it('may be written back, by whichever instance, as often as it takes', async () => {
      const second = await open(file);
      const ids: string[] = [];
      for (let i = 0; i < 12; i++) {
        const events = Array.from({ length: 300 }, () => newEvent({ data: `"data":"${'x'.repeat(2000)}"` }));
        const appended = await (i % 3 === 2 ? second : log).appendAll(events);
        ids.push(...appended.map(({ id }) => id));
        await log.check();
        await second.check();
      }
      expect((await log.scan({ after: 0, limit: 10_000 })).length).toBe(ids.length);
    });
  });

  it('with two names are refused', async () => {
    await record(1);
    await log.close();
    await link(file, path('second.db'));
    expect(await causeOf(openSqliteLog({ file }))).toMatch(/^the file has 2 names \(hard links\)/);
    await rm(path('second.db'));
    await log.close();
  });

  it('below /proc are refused at once', async () => {
    expect(await causeOf(openSqliteLog({ file: '/proc/x/events.db' }))).toMatch(/ENOENT/);
  });

  it.each([
    ['', ['-shm']],
    ['BEGIN;', ['-wal', '-shm']],
  ] as const)(
    'are not opened anew while another process (%s) may still write by %j that were removed',
    async (begin, removed) => {
      const ids = await record(5);
      const holder = holdInProcess(file, begin);
      await holder.opened;
      for (const suffix of removed) await unlink(file + suffix);
      await eventually('the log has noticed', async () => (await causeOf(log.check())) !== 'no error');
      for (let i = 0; i < 5; i++) expect(await causeOf(log.check())).not.toBe('no error');
      await holder.end();
      await eventually('events can be recorded', () => succeeds(log.check()));
      const found = (await log.scan({ after: 0, limit: 100 })).map(({ id }) => id);
      expect(new Set([...found, ...(await idsInLost())])).toEqual(new Set(ids));
    },
    60_000,
  );

  it.each(['ANALYZE', 'DELETE FROM events WHERE sequence = 1', 'CREATE VIEW ids AS SELECT id FROM events'])(
    'are opened after a kill where %s of another program came last',
    async (sql) => {
      await record(5);
      await log.close();
      log = await open(file);
      directly(file, `PRAGMA wal_checkpoint(TRUNCATE); ${sql}`);
      expect((await stat(`${file}-wal`)).size).toBeGreaterThan(0);
      expect((await idsIn(await kill())).length).toBe(sql.startsWith('DELETE') ? 4 : 5);
    },
  );

  describe('left by a process that was killed', () => {
    it.each([0, 1, 50, 2500])('are opened with every event, after %i events', async (count) => {
      const ids = await record(count);
      expect(await idsIn(await kill())).toEqual(ids);
    });

    it.each<[string, (killed: string) => Promise<void>]>([
      [
        'another log',
        async (killed) => {
          await makeOther('other.db');
          await rename(path('other.db'), killed);
        },
      ],
      [
        'another log, copied',
        async (killed) => {
          await makeOther('other.db');
          await copyFile(path('other.db'), killed);
        },
      ],
      [
        'a backup',
        async (killed) => {
          await log.backup(path('copy.db'));
          await copyFile(path('copy.db'), killed);
        },
      ],
      ['an older state of the file', (killed) => copyFile(path('older.db'), killed)],
      ['an empty file', (killed) => truncate(killed)],
      ['no file', (killed) => unlink(killed)],
    ])('are not opened with %s in place of the file, and not changed', async (_what, replace) => {
      await record(5);
      await log.close();
      await copyFile(file, path('older.db'));
      log = await open(file);
      await record(1);
      await log.close();
      log = await open(file);
      await record(1);
      const killed = await kill();
      const whole = await readFile(killed);
      const wal = await readFile(`${killed}-wal`);
      await replace(killed);
      const size = await stat(killed).then(
        (stats) => stats.size,
        () => undefined,
      );
      expect(await causeOf(openSqliteLog({ file: killed }))).toMatch(
        /^The write-ahead log beside the file .* holds events, but .* Nothing was changed\.$/,
      );
      expect((await readFile(`${killed}-wal`)).equals(wal)).toBe(true);
      expect(
        await stat(killed).then(
          (stats) => stats.size,
          () => undefined,
        ),
      ).toBe(size);
      await writeFile(killed, whole);
      expect(await idsIn(killed)).toHaveLength(7);
    });

    it('are opened without the events of a write-ahead log that was moved away', async () => {
      await record(5);
      const others = await makeOther('other.db');
      const killed = await kill();
      await rename(path('other.db'), killed);
      await rename(`${killed}-wal`, path('kept-wal'));
      expect(await idsIn(killed)).toEqual(others);
    });
  });
});
