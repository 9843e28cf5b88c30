import { spawn } from 'node:child_process';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { eventually } from '../../support/eventually';
import { startProcess } from '../../support/process';
import { openConnection, untilClosed } from '../../support/raw';
import { directly, rowsOf } from '../../support/sqlite';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { newEvent } from '../../support/events';

/**
 * Records events in a process of its own, lets something happen that keeps it from looking at its files, and says what came of
 * the calls: before, meanwhile and after. Each event fills a page, so that the write-ahead log is written back meanwhile.
 */
const PROGRAM = `
  const { chmodSync, chownSync, closeSync, openSync, readdirSync } = require('node:fs');
  const { dirname } = require('node:path');
  const [file, logModule, accident] = process.argv.slice(1);
  if (accident !== 'descriptors' && process.getuid() === 0) {
    // root may read every file.
    chownSync(dirname(file), 65534, 65534);
    process.setgid(65534);
    process.setuid(65534);
  }
  const { openSqliteLog } = require(logModule);
  const lost = [];
  let count = 0;
  const event = () => ({
    recordedAt: Date.now(), id: 'e' + count++, source: '/s', attributes: '{"specversion":"1.0"}', arrival: '{}',
    data: '"data":"' + 'x'.repeat(4000) + '"', idempotencyKey: undefined, webhookId: undefined,
  });
  const main = async () => {
    const log = await openSqliteLog({ file });
    log.observe({ lost: (problem) => lost.push(problem) });
    const answered = [];
    const record = async (times) => {
      let failed = 0;
      for (let i = 0; i < times; i++) await log.append(event()).then(({ id }) => answered.push(id), () => failed++);
      return failed;
    };
    // Another connection, which goes on writing: what it writes back changes the file.
    const { DatabaseSync } = require('@photostructure/sqlite');
    const other = new DatabaseSync(file);
    const writeBack = other.prepare('PRAGMA wal_checkpoint(PASSIVE)');
    const before = await record(20);
    const held = [];
    let reason;
    const hold = {
      descriptors() {
        try { for (;;) held.push(openSync('/dev/null')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
      },
      file() { chmodSync(file, 0); },
      folder() { chmodSync(dirname(file), 0); },
    }[accident];
    hold();
    writeBack.get();
    const meanwhile = await record(5);
    reason = await log.check().then(() => 'ready', (error) => error.cause.message);
    for (const one of held) closeSync(one);
    if (accident === 'file') chmodSync(file, 0o600);
    if (accident === 'folder') chmodSync(dirname(file), 0o700);
    const deadline = Date.now() + 10_000;
    while (await log.check().then(() => false, () => true)) if (Date.now() > deadline) break;
    const after = await record(20);
    other.close();
    await log.close();
    const reopened = await openSqliteLog({ file });
    const found = (await reopened.scan({ after: 0, limit: 1000 })).map(({ id }) => id);
    await reopened.close();
    const missing = answered.filter((id) => !found.includes(id));
    const asides = readdirSync(dirname(file)).filter((name) => name.includes('.lost'));
    console.log(JSON.stringify({ failed: [before, meanwhile, after], missing, lost, reason, asides }));
  };
  main();
`;

describe('a SQLite event log whose files cannot be looked at', () => {
  const folder = useTemporaryFolder();

  it.each(['descriptors', 'file', 'folder'])(
    'is not ready, changes nothing, and goes on afterwards (%s)',
    async (accident) => {
      const file = join(folder.path, 'events.db');
      const log = require.resolve('../../../src/log/sqlite/event-log');
      const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '-e', PROGRAM, file, log, accident];
      const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const outcome = JSON.parse(await text(child.stdout)) as Record<string, unknown>;
      expect(outcome).toEqual({
        failed: [0, 5, 0],
        missing: [],
        lost: [],
        reason: expect.stringMatching(
          /^it is not known whether the files of the log are still there: [^/]*$/,
        ) as string,
        asides: [],
      });
    },
  );

  it('has descriptors left when callers take every connection', async () => {
    const node = join(folder.path, 'node');
    await writeFile(node, `#!/bin/sh\nulimit -n 200\nexec '${process.execPath}' "$@"\n`, { mode: 0o700 });
    const service = await startProcess({ EVENT_LOG: `sqlite:${join(folder.path, 'events.db')}` }, folder.path, node);
    const first = await openConnection(service.url);
    const others = await Promise.all(Array.from({ length: 300 }, () => openConnection(service.url)));
    for (const other of others) other.on('error', () => undefined).resume();
    expect(service.output()).toContain('MAX_CONNECTIONS is 50, not 5000');
    const { host, pathname } = new URL(service.url);
    const fields = `Host: ${host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    first.write(`POST ${pathname}/RecordEvent HTTP/1.1\r\n${fields}`);
    expect(await untilClosed(first)).toContain('200 OK');
    await eventually('the others are refused', () => others.filter(({ destroyed }) => !destroyed).length <= 50);
    for (const other of others) other.destroy();
    expect(await service.end('SIGTERM')).toBe(0);
    expect(service.output()).not.toContain('lost');
  });

  it('records nothing beside a newer build that has changed the schema, and loses nothing', async () => {
    const file = join(folder.path, 'events.db');
    const log = await openSqliteLog({ file });
    const { id } = await log.append(newEvent());
    const [version] = rowsOf(file, 'PRAGMA file.user_version') as { user_version: number }[];
    const { ino } = await stat(`${file}-wal`);
    const lost = jest.fn();
    log.observe({ lost });
    directly(file, 'PRAGMA user_version = 99; PRAGMA wal_checkpoint(PASSIVE)');
    await expect(log.append(newEvent())).rejects.toMatchObject({
      cause: { message: expect.stringContaining('The file has schema version 99') as string },
    });
    expect((await stat(`${file}-wal`)).ino).toBe(ino);
    directly(file, `PRAGMA user_version = ${String(version?.user_version)}; PRAGMA wal_checkpoint(PASSIVE)`);
    await log.check();
    const next = await log.append(newEvent());
    expect((await log.scan({ after: 0, limit: 10 })).map((event) => event.id)).toEqual([id, next.id]);
    expect(lost).not.toHaveBeenCalled();
    await log.close();
    expect(await readdir(folder.path)).toEqual(['events.db']);
  });
});
