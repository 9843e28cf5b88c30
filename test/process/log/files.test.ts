import { spawnSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqliteLog } from '../../../src/log/sqlite/event-log';
import { eventually } from '../../support/eventually';
import { EVERY_EVENT, newEvent, outcome } from '../../support/events';
import { startProcess } from '../../support/process';
import { openWire, request } from '../../support/wire';
import { openDirectly } from '../../support/sqlite';
import { TOOL } from '../../support/tool';
import { useTemporaryFolder } from '../../support/temporary-folder';

describe('the files of a SQLite event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  it('can be opened when callers take every connection', async () => {
    const node = join(folder.path, 'node');
    await writeFile(node, `#!/bin/sh\nulimit -n 200\nexec '${process.execPath}' "$@"\n`, { mode: 0o700 });
    const service = await startProcess({ EVENT_LOG: `sqlite:${file}` }, folder.path, node);
    const first = await openWire(service.url);
    const others = await Promise.all(Array.from({ length: 300 }, () => openWire(service.url)));
    expect(service.output()).toContain('MAX_CONNECTIONS is 50, not 1000');
    const line = `POST ${new URL(service.url).pathname}/RecordEvent`;
    first.write(request(line, 'Connection: close', 'Content-Length: 0'));
    expect(await first.untilClosed()).toContain('200 OK');
    await eventually('the others are refused', () => others.filter(({ socket }) => !socket.destroyed).length <= 50);
    for (const { socket } of others) socket.destroy();
    expect(await service.end('SIGTERM')).toBe(0);
    expect(service.output()).not.toContain('lost');
  });

  it('have nothing of a backup beside them for which the disk had no room', async () => {
    const log = await openSqliteLog({ file });
    for (let i = 0; i < 8; i++) await log.append(newEvent({ data: `"data":"${'x'.repeat(1_000_000)}"` }));
    const script = `ulimit -f 4000; exec '${process.execPath}' '${TOOL}' backup full/copy.db`;
    await mkdir(join(folder.path, 'full'));
    const options = { cwd: folder.path, env: { EVENT_LOG: 'sqlite:events.db' }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync('sh', ['-c', script], options);
    expect([status, stderr]).toEqual([1, 'The event log could not be copied: disk I/O error\n']);
    expect(await readdir(join(folder.path, 'full'))).toEqual([]);
    await log.close();
  });

  it('are read, and said to be locked, while an event waits for the lock', async () => {
    const log = await openSqliteLog({ file });
    const other = openDirectly(file);
    other.exec('BEGIN IMMEDIATE');
    const order: string[] = [];
    const locked = async (name: string, call: Promise<unknown>) => {
      await expect(call).rejects.toHaveProperty('cause.message', 'database is locked');
      order.push(name);
    };
    // It waits for another two seconds.
    jest.spyOn(performance, 'now').mockReturnValueOnce(performance.now() - 3000);
    const recording = locked('append', log.append(newEvent()));
    expect(await log.read(EVERY_EVENT)).toEqual([]);
    await locked('check', log.check());
    await recording;
    expect(order).toEqual(['check', 'append']);
    other.close();
    expect((await outcome(log.append(newEvent()))).recorded).toBe(true);
    await log.close();
  });
});
