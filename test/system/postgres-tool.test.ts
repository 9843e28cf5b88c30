import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BINDINGS, callOperation } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { describeWithPostgres, usePostgres } from '../support/postgres';
import { startProcess } from '../support/process';
import { startTarget } from '../support/target';
import { temporaryFolder } from '../support/temporary-folder';
import { startTool, TOOL } from '../support/tool';

describeWithPostgres('the programs with an event log in PostgreSQL', () => {
  const postgres = usePostgres('fsync=off');
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => (folder = await temporaryFolder()));
  afterAll(() => folder.remove());

  /** The address of a log in a database of its own. */
  const newLog = async () => {
    const { database } = await postgres.options();
    return `postgres://webhook@127.0.0.1:${String(postgres.port())}/${database}?sslmode=disable&durability=relaxed`;
  };
  const tool = async (log: string, ...args: string[]) => {
    const running = startTool(args, { EVENT_LOG: log }, folder.path);
    return { code: await running.ended, errors: running.errors() };
  };
  /** The lines of an archive, in which positions are those of the log that it came from. */
  const lines = async (file: string) =>
    (await readFile(join(folder.path, file), 'utf8')).replaceAll(/"sequence":"\d+"/g, '').split('\n');

  it('record in two workers, follow, forward, and move the events to SQLite and back unchanged', async () => {
    const log = await newLog();
    const service = await startProcess({ EVENT_LOG: log, WORKERS: '2' }, folder.path);
    const following = spawn(process.execPath, [TOOL, 'follow', '--since', '1h'], {
      cwd: folder.path,
      env: { PATH: process.env.PATH ?? '', EVENT_LOG: log },
    });
    let followed = '';
    following.stdout.on('data', (chunk: Buffer) => (followed += chunk.toString()));
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const keys: Record<string, string> = i % 3 === 0 ? { 'Idempotency-Key': `k${String(i)}` } : {};
        if (i % 4 === 0) keys['webhook-id'] = `w${String(i)}`;
        return callOperation(service.url, BINDINGS[i % 4] ?? 'soap11', 'RecordEvent', '<a>ä</a>', keys);
      }),
    );
    const again = Array.from({ length: 8 }, () =>
      callOperation(service.url, 'soap11', 'RecordEvent', '<a>ä</a>', { 'Idempotency-Key': 'k0' }),
    );
    expect(new Set(await Promise.all(again))).toEqual(new Set([ids[0]]));
    const waiting = send(`${service.url}/GetEvents?after=40&wait=20s`, { headers: { Accept: 'application/json' } });
    const last = await callOperation(service.url, 'soap12', 'RecordEvent', '<last/>');
    expect((await waiting).body).toContain(last);
    await eventually('every event is followed', () => [...ids, last].every((id) => followed.includes(id)));
    following.kill('SIGTERM');
    await once(following, 'exit');
    expect(followed.trim().split('\n')).toHaveLength(41);

    const target = await startTarget();
    expect((await tool(log, 'forward', target.url, '--since', '1h')).code).toBe(0);
    expect(target.received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id).sort()).toEqual(
      [...ids, last].sort(),
    );
    await target.close();
    const searched = await send(`${service.url}?events=export&text=last`, {});
    expect([searched.status, searched.body.includes(last), searched.body.includes(ids[0] ?? '')]).toEqual([
      200,
      true,
      false,
    ]);
    expect(await service.end('SIGTERM')).toBe(0);

    const sqlite = `sqlite:${join(folder.path, 'events.db')}`;
    expect(await tool(log, 'export', 'first.ndjson')).toMatchObject({ code: 0, errors: '41 events exported.\n' });
    expect((await tool(sqlite, 'import', 'first.ndjson')).errors).toBe('41 recorded, 0 already in the log.\n');
    await tool(sqlite, 'export', 'second.ndjson');
    const back = await newLog();
    expect((await tool(back, 'import', 'second.ndjson')).errors).toBe('41 recorded, 0 already in the log.\n');
    expect((await tool(back, 'import', 'second.ndjson')).errors).toBe('0 recorded, 41 already in the log.\n');
    await tool(back, 'export', 'third.ndjson');
    expect(await lines('third.ndjson')).toEqual(await lines('first.ndjson'));
    expect((await tool(back, 'verify')).errors).toBe('41 events verified. The log is whole.\n');
  });
});
