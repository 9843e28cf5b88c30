import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { SqliteEventLog } from '../../src/events/sqlite-event-log';
import { newEvent } from '../events/event-log-suite';
import { startProcess } from '../support/process';
import { BINDINGS, callOperation, eventsOf } from '../support/bindings';
import { useTemporaryFolder } from '../support/service';

const TOOL = join(__dirname, '..', '..', 'dist', 'events-tool.js');

describe('the tool for the event log', () => {
  const folder = useTemporaryFolder();
  let file: string;
  beforeEach(() => {
    file = join(folder.path, 'events.db');
  });

  /** Runs the tool to its end. */
  const run = (args: string[], log = file): Promise<{ code: number; output: string; errors: string }> =>
    new Promise((resolve) => {
      const env = { PATH: process.env.PATH ?? '', EVENT_LOG: `sqlite:${log}` };
      execFile(process.execPath, [TOOL, ...args], { cwd: folder.path, env }, (error, output, errors) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, output, errors });
      });
    });

  const fill = async (count: number): Promise<void> => {
    const log = await SqliteEventLog.open({ file });
    const events = Array.from({ length: count }, (_, i) =>
      newEvent({
        data: i % 2 === 0 ? `"data":{"n":${String(i)}.0,"text":"\u2028\u2029 \\u0000"}` : '"data_base64":"AP8="',
        arrival: `{"method":"POST","i":${String(i)}}`,
        recordedAt: 1_700_000_000_000 + i,
        idempotencyKey: i % 3 === 0 ? `key ${String(i)}` : undefined,
        webhookId: i % 5 === 0 ? `hook ${String(i)}` : undefined,
      }),
    );
    await Promise.all(events.map((event) => log.append(event)));
    await log.close();
  };

  const stored = async (path: string) => {
    const log = await SqliteEventLog.open({ file: path });
    const events = await log.scan(0n, 100_000);
    await log.close();
    return events;
  };

  it('exports everything, and imports it into an empty log with nothing lost or changed', async () => {
    await fill(2500);
    const archive = join(folder.path, 'events.ndjson');
    expect(await run(['--export', archive])).toMatchObject({ code: 0, errors: '2500 events exported.\n' });
    const other = join(folder.path, 'other.db');
    expect(await run(['--import', archive], other)).toMatchObject({
      code: 0,
      errors: '2500 events recorded, 0 were in the log before.\n',
    });
    expect(await stored(other)).toEqual(await stored(file));
    const again = join(folder.path, 'again.ndjson');
    await run(['--export', again], other);
    expect(await readFile(again, 'utf8')).toBe(await readFile(archive, 'utf8'));
  });

  it('imports nothing twice', async () => {
    await fill(20);
    const archive = join(folder.path, 'events.ndjson');
    await run(['--export', archive]);
    const { errors } = await run(['--import', archive]);
    expect(errors).toBe('0 events recorded, 20 were in the log before.\n');
    expect(await stored(file)).toHaveLength(20);
  });

  it('imports CloudEvents of others, and says which line is none', async () => {
    const archive = join(folder.path, 'foreign.ndjson');
    const event = { specversion: '1.0', id: 'a', source: '/old', type: 't', data: [1] };
    await writeFile(archive, `${JSON.stringify(event)}\n\n${JSON.stringify({ ...event, id: 'b', type: '' })}\n`);
    const { code, errors } = await run(['--import', archive]);
    expect(code).toBe(1);
    expect(errors).toBe(
      `Line 3 of ${archive} cannot be imported; of those before it 1 events recorded, 0 were in the log before. ---> ` +
        "The CloudEvent's attribute type must not be empty.\n",
    );
    expect((await stored(file)).map(({ id, data }) => [id, data])).toEqual([['a', '"data":[1]']]);
  });

  it('does not write over a file', async () => {
    await fill(1);
    for (const option of ['--export', '--backup']) {
      const target = join(folder.path, `kept${option}`);
      await writeFile(target, 'mine');
      expect((await run([option, target])).code).toBe(1);
      expect(await readFile(target, 'utf8')).toBe('mine');
    }
  });

  it('prints what was recorded since a time, a sequence or a duration ago', async () => {
    await fill(10);
    const ids = async (since: string) =>
      (await run(['--since', since])).output
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { sequence: string }).sequence);
    expect(await ids('7')).toHaveLength(3);
    expect(await ids(new Date(1_700_000_000_004).toISOString())).toHaveLength(6);
    expect(await ids('1h')).toHaveLength(0);
    expect(await ids('20000d')).toHaveLength(10);
  });

  it('follows what a running service records, and ends on SIGTERM', async () => {
    const service = await startProcess({ EVENT_LOG: `sqlite:${file}` }, folder.path);
    const env = { PATH: process.env.PATH ?? '', EVENT_LOG: `sqlite:${file}` };
    const child = spawn(process.execPath, [TOOL, '--follow', '--since', '0'], { env });
    const seen: string[] = [];
    const both = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        seen.push(...chunk.toString().split('\n').filter(Boolean));
        if (seen.length === BINDINGS.length) resolve();
      });
    });
    const ids: string[] = [];
    for (const binding of BINDINGS) ids.push(await callOperation(service.url, binding, 'RecordEvent'));
    await both;
    const events = seen.map((line) => JSON.parse(line) as { id: string; arrival: string });
    expect(events.map(({ id }) => id)).toEqual(ids);
    expect(JSON.parse(events[0]?.arrival ?? '')).toMatchObject({ method: 'POST', remoteAddress: '127.0.0.1' });
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
    await service.end('SIGTERM');
  });

  it('copies the log while the service runs, to a file that is a whole log', async () => {
    const service = await startProcess({ EVENT_LOG: `sqlite:${file}` }, folder.path);
    const id = await callOperation(service.url, 'soap11', 'RecordEvent');
    const copy = join(folder.path, 'copy.db');
    expect((await run(['--backup', copy])).code).toBe(0);
    await callOperation(service.url, 'soap11', 'RecordEvent');
    await service.end('SIGTERM');
    const database = new Database(copy);
    expect(database.pragma('integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
    database.close();
    const restored = await startProcess({ EVENT_LOG: `sqlite:${copy}` }, folder.path);
    expect(eventsOf(await callOperation(restored.url, 'httpget', 'GetEvents')).map((event) => event.id)).toEqual([id]);
    await restored.end('SIGTERM');
  });

  it.each([
    [[]],
    [['--nonsense']],
    [['--export', 'a', '--import', 'b']],
    [['--since', 'yesterday']],
    [['--import', 'a', '--since', '1h']],
  ])('says how it is used where it is called with %j', async (args) => {
    await fill(1);
    const { code, output, errors } = await run(args);
    expect([code, output]).toEqual([2, '']);
    expect(errors).toContain('--export FILE');
  });

  it('does not make a log where it is to read one', async () => {
    const { code, errors } = await run(['--export', '-'], join(folder.path, 'mistyped.db'));
    expect(code).toBe(1);
    expect(errors).toContain('There is no event log at ');
    await expect(readFile(join(folder.path, 'mistyped.db'))).rejects.toThrow('ENOENT');
  });
});
