import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BINDINGS, callOperation } from '../support/bindings';
import { send } from '../support/http';
import { startNats, type NatsServer } from '../support/nats';
import { runToEnd, startProcess } from '../support/process';
import { temporaryFolder } from '../support/temporary-folder';
import { startTool } from '../support/tool';
import { describeWith } from '../support/tools';

describeWith({ 'nats-server': 'nats-server' }, 'the programs with an event log on JetStream', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: NatsServer;
  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startNats(folder.path, -1, 'authorization { user: u, password: "p@ss" }');
  });
  afterAll(async () => {
    await server.end('SIGTERM');
    await folder.remove();
  });

  const stream = (name: string) => `nats://u:p%40ss@127.0.0.1:${String(server.port)}/${name}`;
  const tool = async (log: string, ...args: string[]) => {
    const running = startTool(args, { EVENT_LOG: log, EVENT_LOG_TIMEOUT: '2s' }, folder.path);
    return { code: await running.ended, errors: running.errors() };
  };
  /** The lines of an archive, in which positions are those of the log that it came from. */
  const lines = async (file: string) =>
    (await readFile(join(folder.path, file), 'utf8')).replaceAll(/"sequence":"\d+"/g, '').split('\n');

  it('move the events of a service from SQLite to JetStream and back, unchanged and in their order', async () => {
    const sqlite = `sqlite:${join(folder.path, 'events.db')}`;
    const service = await startProcess({ EVENT_LOG: sqlite }, folder.path);
    for (let i = 0; i < 60; i++) {
      const key: Record<string, string> = i % 3 === 0 ? { 'Idempotency-Key': `k${String(i)}` } : {};
      if (i % 4 === 0) key['webhook-id'] = `w${String(i)}`;
      if (i % 5 === 0) key['X-GitHub-Delivery'] = `g${String(i)}`;
      await callOperation(service.url, BINDINGS[i % 4] ?? 'soap11', 'RecordEvent', '<a>\u00e4</a>', key);
    }
    for (const name of ['idempotencykey', 'webhookid', 'arrival', 'sequence', 'binding']) {
      const event = { specversion: '1.0', id: name, source: '/s', type: 't', [name]: 'same', data: '\uFFFE\uD800' };
      const headers = { 'Content-Type': 'application/cloudevents+json' };
      await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: JSON.stringify(event) });
    }
    await service.end('SIGTERM');

    expect(await tool(sqlite, 'export', 'sqlite.ndjson')).toMatchObject({ code: 0, errors: '65 events exported.\n' });
    const recorded = '65 recorded, 0 already in the log.\n';
    expect(await tool(stream('MOVED'), 'import', 'sqlite.ndjson')).toMatchObject({ code: 0, errors: recorded });
    const again = '0 recorded, 65 already in the log.\n';
    expect(await tool(stream('MOVED'), 'import', 'sqlite.ndjson')).toMatchObject({ code: 0, errors: again });
    await tool(stream('MOVED'), 'export', 'jetstream.ndjson');
    expect(await lines('jetstream.ndjson')).toEqual(await lines('sqlite.ndjson'));

    const back = `sqlite:${join(folder.path, 'back.db')}`;
    expect(await tool(back, 'import', 'jetstream.ndjson')).toMatchObject({ code: 0, errors: recorded });
    await tool(back, 'export', 'back.ndjson');
    expect(await lines('back.ndjson')).toEqual(await lines('sqlite.ndjson'));
  });

  it('remove an event so that no file of the server holds it', async () => {
    const log = stream('FORGETS');
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
    expect((await tool(log, 'verify')).errors).toBe('1 events verified. The log is whole.\n');
    expect(await tool(log, 'compact')).toMatchObject({ code: 2 });
    const names = await readdir(join(folder.path, 'jetstream'), { recursive: true, withFileTypes: true });
    const files = names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFile(join(parentPath, name)));
    const holding = (text: string, bytes: Buffer[]) => bytes.filter((content) => content.includes(text)).length;
    const contents = await Promise.all(files);
    expect(holding('public-mark', contents)).toBeGreaterThan(0);
    expect([holding('secret-mark', contents), holding(id, contents)]).toEqual([0, 0]);
    expect(await record('secret-mark')).not.toBe(id);
    await service.end('SIGTERM');
  });

  it('say what is wrong without the password', async () => {
    const missing = await tool(stream('NOWHERE'), 'print', '--since', '1h');
    expect(missing.code).toBe(1);
    expect(missing.errors).toContain('the stream NOWHERE does not exist');
    const wrong = stream('SERVED').replace('p%40ss', 'Geheim');
    const { code, output } = await runToEnd({ EVENT_LOG: wrong }, folder.path);
    expect(code).toBe(1);
    expect(output).toContain('cannot be opened');
    expect(missing.errors + output).not.toMatch(/p@ss|p%40ss|Geheim/);
  });
});
