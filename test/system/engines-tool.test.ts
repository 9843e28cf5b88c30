import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BINDINGS, callOperation } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { useJetStream } from '../support/jetstream';
import { describeWithPostgres, usePostgres } from '../support/postgres';
import { startProcess } from '../support/process';
import { startTarget } from '../support/target';
import { useTemporaryFolder } from '../support/temporary-folder';
import { runTool, startTool } from '../support/tool';
import { describeWith } from '../support/tools';

/** Makes a new log, and resolves to what EVENT_LOG names it. */
type NewLog = () => Promise<string>;

function usePostgresLogs(): NewLog {
  const postgres = usePostgres('fsync=off');
  return async () => {
    const { database } = await postgres.options();
    return `postgres://webhook@127.0.0.1:${String(postgres.port())}/${database}?sslmode=disable&durability=relaxed`;
  };
}

function useStreams() {
  const nats = useJetStream('authorization { user: u, password: "p@ss" }', { user: 'u', password: 'p@ss' });
  const newLog = () => Promise.resolve(`nats://u:p%40ss@127.0.0.1:${String(nats.port())}/${nats.options().stream}`);
  return { nats, newLog };
}

const describeWithNats = (what: string, tests: () => void) => {
  describeWith({ 'nats-server': 'nats-server' }, what, tests);
};

describe.each([
  ['PostgreSQL', describeWithPostgres, usePostgresLogs],
  ['JetStream', describeWithNats, () => useStreams().newLog],
] as const)('with an event log in %s', (engine, describeWithEngine, useLogs) => {
  describeWithEngine(`the programs with an event log in ${engine}`, () => {
    const newLog = useLogs();
    const folder = useTemporaryFolder();
    const tool = (log: string, ...args: string[]) => runTool(args, { EVENT_LOG: log }, folder.path);
    /** The lines of an archive, in which positions are those of the log that it came from. */
    const lines = async (file: string) =>
      (await readFile(join(folder.path, file), 'utf8')).replaceAll(/"sequence":"\d+"/g, '').split('\n');

    it('record in two workers, follow, forward, and move the events to SQLite and back unchanged', async () => {
      const log = await newLog();
      const service = await startProcess({ EVENT_LOG: log, WORKERS: '2' }, folder.path);
      const follower = startTool(['follow', '--since', '1h'], { EVENT_LOG: log }, folder.path);
      const record = (i: number) => {
        const keys: Record<string, string> = i % 3 === 0 ? { 'Idempotency-Key': `k${String(i)}` } : {};
        if (i % 4 === 0) keys['webhook-id'] = `w${String(i)}`;
        if (i % 5 === 0) keys['X-GitHub-Delivery'] = `g${String(i)}`;
        return callOperation(service.url, BINDINGS[i % 4] ?? 'soap11', 'RecordEvent', '<a>ä</a>', keys);
      };
      const ids = await Promise.all(Array.from({ length: 40 }, (_, i) => record(i)));
      expect(new Set(await Promise.all(Array.from({ length: 8 }, () => record(0))))).toEqual(new Set([ids[0]]));
      for (const name of ['idempotencykey', 'webhookid', 'arrival', 'sequence', 'binding']) {
        const event = { specversion: '1.0', id: name, source: '/s', type: 't', [name]: 'same', data: '\uFFFE\uD800' };
        const headers = { 'Content-Type': 'application/cloudevents+json' };
        await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: JSON.stringify(event) });
        ids.push(name);
      }
      const json = { headers: { Accept: 'application/json' } };
      const [newest] = JSON.parse((await send(`${service.url}/GetEvents?limit=1`, json)).body) as {
        sequence: string;
      }[];
      const waiting = send(`${service.url}/GetEvents?after=${newest?.sequence ?? ''}&wait=20s`, json);
      const last = await callOperation(service.url, 'soap12', 'RecordEvent', '<last/>');
      ids.push(last);
      expect((await waiting).body).toContain(last);
      await eventually('every event is followed', () => ids.every((id) => follower.output().includes(id)));
      await follower.end('SIGTERM');
      expect(follower.output().trim().split('\n')).toHaveLength(46);

      const target = await startTarget();
      expect((await tool(log, 'forward', target.url, '--since', '1h')).code).toBe(0);
      const received = target.received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
      expect(received.sort()).toEqual([...ids].sort());
      await target.close();
      const { status, body } = await send(`${service.url}?events=export&text=last`);
      expect([status, body.includes(last), body.includes(ids[0] ?? '')]).toEqual([200, true, false]);
      expect(await service.end('SIGTERM')).toBe(0);

      const sqlite = `sqlite:${join(folder.path, 'events.db')}`;
      expect(await tool(log, 'export', 'first.ndjson')).toMatchObject({ code: 0, errors: '46 events exported.\n' });
      expect((await tool(sqlite, 'import', 'first.ndjson')).errors).toBe('46 recorded, 0 already in the log.\n');
      await tool(sqlite, 'export', 'second.ndjson');
      const back = await newLog();
      expect((await tool(back, 'import', 'second.ndjson')).errors).toBe('46 recorded, 0 already in the log.\n');
      expect((await tool(back, 'import', 'second.ndjson')).errors).toBe('0 recorded, 46 already in the log.\n');
      await tool(back, 'export', 'third.ndjson');
      expect(await lines('third.ndjson')).toEqual(await lines('first.ndjson'));
      expect((await tool(back, 'verify')).errors).toBe('46 events verified. The log is whole.\n');
    });
  });
});

describeWithNats('the programs with an event log on JetStream', () => {
  const { nats, newLog } = useStreams();
  const folder = useTemporaryFolder();
  const tool = (log: string, ...args: string[]) =>
    runTool(args, { EVENT_LOG: log, EVENT_LOG_TIMEOUT: '2s' }, folder.path);

  it('remove an event so that no file of the server holds it', async () => {
    const log = await newLog();
    const service = await startProcess({ EVENT_LOG: log }, folder.path);
    const record = async (mark: string): Promise<string> => {
      const headers = { 'Idempotency-Key': `${mark}-key`, 'webhook-id': `${mark}-hook` };
      return callOperation(service.url, 'soap11', 'RecordEvent', `<a>${mark}</a>`, headers);
    };
    const id = await record('secret-mark');
    await record('public-mark');
    expect((await tool(log, 'forget', id, 'unknown')).errors).toMatch(
      /^1 removed\.\n.*\nThere is no event unknown\.\n$/,
    );
    expect((await tool(log, 'verify')).errors).toBe('1 event verified. The log is whole.\n');
    expect(await tool(log, 'compact')).toMatchObject({ code: 2 });
    let contents: Buffer[] = [];
    await nats.restart(async (store) => {
      const entries = await readdir(join(store, '..', '..'), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      contents = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name))));
    });
    const holding = (text: string) => contents.filter((content) => content.includes(text)).length;
    expect(holding('public-mark')).toBeGreaterThan(0);
    expect([holding('secret-mark'), holding(id)]).toEqual([0, 0]);
    await eventually('the service is ready', async () => {
      return (await send(new URL('/readyz', service.url).href)).status === 200;
    });
    expect(await record('secret-mark')).not.toBe(id);
    await service.end('SIGTERM');
  });
});
