import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Sender } from '../../../src/senders/sender';
import { useTemporaryFolder } from '../../support/temporary-folder';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..', '..');

/** Jest cannot load modules when they are needed, so programs are run that use the package. */
describe('a program with the package', () => {
  const folder = useTemporaryFolder();

  beforeEach(async () => {
    await mkdir(join(folder.path, 'node_modules'));
    await symlink(ROOT, join(folder.path, 'node_modules', 'asmx-webhook'), 'dir');
  });

  /** Runs a program in a module, and resolves to the lines that it prints. */
  async function printed(program: string, variables: Readonly<Record<string, string>> = {}): Promise<string[]> {
    await writeFile(join(folder.path, 'program.mjs'), program);
    const options = { cwd: folder.path, env: { PATH: process.env.PATH ?? '', ...variables } };
    const { stdout, stderr } = await run(process.execPath, ['program.mjs'], options);
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  }

  it('starts and ends the service as docs/embedding.md shows, whatever the environment says', async () => {
    const [, example = ''] = /```js\n(.*?)```/s.exec(await readFile(join(ROOT, 'docs', 'embedding.md'), 'utf8')) ?? [];
    const lines = await printed(example, { SERVICE_ROOT: 'other', PORT: 'http' });
    expect(lines).toEqual([
      expect.stringMatching(/^WebHook answers at http:\/\/127\.0\.0\.1:\d+\/webhooks\/Services\/WebHooks\.asmx$/),
      '200',
    ]);
    expect(await readdir(join(folder.path, 'data'))).toEqual(['events.db']);
  });

  it('has a log in memory for the tests of others, as docs/embedding.md shows', async () => {
    const page = await readFile(join(ROOT, 'docs', 'embedding.md'), 'utf8');
    const [, example = ''] = /## In your tests.*?```js\n(.*?)```/s.exec(page) ?? [];
    const [, forwarding = ''] = /as its sender makes them.*?```js\n(.*?)```/s.exec(page) ?? [];
    await writeFile(join(folder.path, 'orders.test.js'), `${example}\n${forwarding}`);
    await writeFile(join(folder.path, 'package.json'), '{}');
    const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
    const { stderr } = await run(process.execPath, [jest, '--rootDir', folder.path], { cwd: folder.path });
    expect(stderr).toMatch(/an order is sent once[^]*Tests: +2 passed, 2 total/);
    expect((await readdir(folder.path)).sort()).toEqual(['node_modules', 'orders.test.js', 'package.json']);
  });

  describe('with the events of its service', () => {
    /** A program that starts a service, does something with its events and ends it. */
    const withEvents = (program: string): string => `
      import { setTimeout as delay } from 'node:timers/promises';
      import { createWebHook } from 'asmx-webhook';
      const webhook = await createWebHook({ PORT: 0, EVENT_LOG: 'sqlite:events.db' });
      const { events } = webhook;
      const recordAll = async (...ids) => { for (const id of ids) await events.record({ id, data: { id } }); };
      const followed = async (options, until) => {
        const found = [];
        for await (const { id } of events.follow(options)) {
          found.push(id);
          if (id === until) break;
        }
        return found.join(' ');
      };
      ${program}
      await webhook.close();`;

    it('does what docs/embedding.md shows', async () => {
      const page = await readFile(join(ROOT, 'docs', 'embedding.md'), 'utf8');
      const [, example = '', output = ''] = /## Its events.*?```js\n(.*?)```.*?```text\n(.*?)\n```/s.exec(page) ?? [];
      expect(await printed(example)).toEqual(output.split('\n'));
    });

    it('follows them from a position, or from the call on, until it breaks off', async () => {
      const lines = await printed(
        withEvents(`
          await recordAll('a', 'b');
          const [first] = await events.read({ after: 0, limit: 1 });
          const news = followed({}, 'd');
          const all = followed({ after: 0 }, 'd');
          const rest = followed({ after: first.sequence }, 'd');
          await recordAll('c');
          await fetch(webhook.url + '/RecordEvent', {
            method: 'POST',
            headers: { 'Content-Type': 'application/cloudevents+json' },
            body: JSON.stringify({ specversion: '1.0', id: 'd', source: '/sender', type: 't' }),
          });
          for (const found of [news, all, rest]) console.log(await found);`),
      );
      expect(lines).toEqual(['c d', 'a b c d', 'b c d']);
    });

    it('follows them past one that the disk has damaged, which is left out', async () => {
      const lines = await printed(
        withEvents(`
          await recordAll('a', 'b', 'c');
          const { DatabaseSync } = await import(${JSON.stringify(join(ROOT, 'node_modules/@photostructure/sqlite/dist/index.cjs'))});
          const database = new DatabaseSync('events.db', { timeout: 5000 });
          database.exec("UPDATE events SET data = substr(data, 2) WHERE sequence = 2");
          database.close();
          for await (const { id, data } of events.follow({ after: 0 })) {
            console.log(id, data?.id);
            if (id === 'c') break;
          }`),
      );
      expect(lines).toEqual(['a a', 'c c']);
    });

    it('follows them until the signal or the end of the service, and then ends', async () => {
      const lines = await printed(
        withEvents(`
          await recordAll('a', 'b');
          const stop = new AbortController();
          const stopped = followed({ after: 0, signal: stop.signal });
          const closed = Array.from({ length: 20 }, () => followed({ after: '1' }));
          const left = events.follow({ after: 0 });
          console.log((await left.next()).value.id, await followed({ signal: AbortSignal.abort() }));
          await delay(100);
          stop.abort();
          console.log(await stopped);
          await webhook.close();
          console.log(...new Set(await Promise.all(closed)), (await left.next()).done);
          console.log(await followed({ after: 0 }), await events.read().catch((error) => error.message));`),
      );
      expect(lines).toEqual(['a ', 'a b', 'b true', ' The event log is closed.']);
    });

    it('records what a sender could have sent, once, with what it left out', async () => {
      const [whole = '', ...lines] = await printed(
        withEvents(`
          const { id } = await events.record({ subject: 'x', id: undefined });
          const event = { id: 'e-1', source: '/own', type: 'own', time: '2026-01-02T03:04:05Z', data: [1, 'ü', null], mark: true };
          console.log(JSON.stringify([await events.record(event), await events.record(event)]));
          await events.record({ data: new Uint8Array([0, 255]) });
          const all = await events.read();
          console.log(JSON.stringify([all[0].id === id, all]));
          for (const wrong of [{ source: ' ' }, { _log: {} }, { specversion: '0.3' }, { data: 1, data_base64: '' }])
            console.log(await events.record(wrong).catch((error) => error.message));
          for (const data of [null, () => 1, Symbol('x'), { inside: () => 1 }])
            console.log(await events.record({ data }).catch((error) => error.code + ' ' + error.message));
          console.log(await events.read({ limit: 0 }).catch((error) => error.message));
          console.log(await events.read({ after: 'x' }).catch((error) => error.message));`),
      );
      expect(JSON.parse(whole)).toEqual([
        { id: 'e-1', recorded: true },
        { id: 'e-1', recorded: false },
      ]);
      const own = { specversion: '1.0', source: '/webhooks/Services/WebHooks.asmx', type: 'webhook.recorded' };
      const filled = {
        ...own,
        id: expect.stringMatching(/^[\da-f-]{36}$/) as string,
        time: expect.any(String) as string,
      };
      expect(JSON.parse(lines.shift() ?? '')).toEqual([
        true,
        [
          { ...filled, subject: 'x', sequence: '1'.padStart(20, '0') },
          {
            specversion: '1.0',
            ...{ id: 'e-1', source: '/own', type: 'own', time: '2026-01-02T03:04:05Z', mark: true },
            ...{ data: [1, 'ü', null], sequence: '2'.padStart(20, '0') },
          },
          { ...filled, data_base64: 'AP8=', sequence: expect.stringMatching(/^0+[34]$/) as string },
        ],
      ]);
      expect(lines).toEqual([
        "The CloudEvent's attribute source must be a URI reference (RFC 3986).",
        "The CloudEvent's attribute _log must have a name of lower-case letters and digits.",
        "The CloudEvent's attribute specversion must be 1.0.",
        'The CloudEvent has both data and data_base64.',
        'ERR_WEBHOOK_CLOUD_EVENT data must not be null: leave it out.',
        'ERR_WEBHOOK_CLOUD_EVENT data must not be a function: JSON has none.',
        'ERR_WEBHOOK_CLOUD_EVENT data must not be a symbol: JSON has none.',
        'ERR_WEBHOOK_CLOUD_EVENT inside must not be a function: JSON has none.',
        'limit must be a whole number from 1 on.',
        'after must be the sequence of an event: up to 20 digits.',
      ]);
    });

    it('forwards them as the tool does, and says how each was answered', async () => {
      const lines = await printed(`
        import { createServer } from 'node:http';
        import { once } from 'node:events';
        import { createWebHook } from 'asmx-webhook';
        const webhook = await createWebHook({ PORT: 0, EVENT_LOG: 'memory:' });
        const statuses = [503, 204, 404];
        const handler = createServer(async ({ method, url, headers }, response) => {
          const { 'content-type': type, 'webhook-signature': signature } = headers;
          console.log(method, url, type, typeof signature);
          response.writeHead(statuses.shift() ?? 500).end();
        }).listen(0, '127.0.0.1');
        await once(handler, 'listening');
        const url = 'http://127.0.0.1:' + handler.address().port + '/hook';
        await fetch(webhook.url + '/RecordEvent?a=1');
        await fetch(webhook.url + '/RecordEvent', { method: 'PUT', body: 'x' });
        await webhook.events.record({ data: 1 });
        const secret = 'whsec_' + Buffer.alloc(24).toString('base64');
        const sign = { sender: 'standard-webhooks', secret };
        console.log(await webhook.events.forward(url, { limit: 1, asReceived: true }));
        console.log(await webhook.events.forward(new URL(url), { after: 1, sign }));
        const failing = (...args) => webhook.events.forward(...args).catch((error) => console.log(error.message));
        await failing(url, { sign: { sender: 'github', secret: 'sixteen characters' } });
        await failing(url, { asReceived: true, sign: { sender: 'x', secret } });
        await failing('3000');
        await failing(url);
        handler.close();
        await webhook.close();
      `);
      expect(lines).toEqual([
        ...Array<string>(2).fill('GET /hook?a=1 undefined undefined'),
        "[ { sequence: '00000000000000000001', status: 204 } ]",
        'POST /hook application/cloudevents+json string',
        "[ { sequence: '00000000000000000002', status: 404 } ]",
        'sign as github goes with asReceived: CloudEvents are signed as standard-webhooks.',
        `sign needs a sender, one of ${Sender.recognised.join(', ')}, and a secret of that sender.`,
        'Invalid URL',
        ...Array<string>(3).fill('POST /hook application/cloudevents+json undefined'),
        expect.stringMatching(
          /^Event 1 was not taken by http:.*: 500 Internal Server Error \(\d+ ms\)\. It was tried 3 times\.$/,
        ),
      ]);
    });
  });

  it('tells errors apart by their class and code, and hears what is wrong', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    const lines = await printed(`
      import { CloudEventError, ConfigError, createWebHook, EventLogError } from 'asmx-webhook';
      const failing = (type, promise) => promise.catch((error) => console.log(error instanceof type, error.code, error.message));
      const start = (settings) => createWebHook({ PORT: 0, EVENT_LOG: 'sqlite:events.db', ...settings });
      for (const settings of [{ PORTS: 1 }, { ZZZ: 1 }, { PORT: 'http' }, { PORT: 1, WORKERS: 2 }])
        await failing(ConfigError, start(settings));
      await failing(EventLogError, start({ EVENT_LOG: 'sqlite:/dev/null/events.db' }));
      await failing(Error, start({ PORT: ${port} }));
      const { events, close } = await start();
      await failing(CloudEventError, events.record({ source: ' ' }));
      await close();
      await failing(EventLogError, events.record({}));`);
    taken.close();
    expect(lines).toEqual([
      'true ERR_WEBHOOK_CONFIG PORTS: there is no such setting; did you mean PORT?',
      'true ERR_WEBHOOK_CONFIG ZZZ: there is no such setting',
      'true ERR_WEBHOOK_CONFIG PORT=http: must be a whole number from 0 to 65535',
      'true ERR_WEBHOOK_CONFIG WORKERS must be 1 here: asmx-webhook runs several processes.',
      'true ERR_WEBHOOK_EVENT_LOG The event log /dev/null/events.db cannot be opened: part of its path is a file, not a folder. ' +
        'Set EVENT_LOG to sqlite: and the path of a file.',
      `true EADDRINUSE 127.0.0.1 at port ${port} cannot be used: another program uses it. Set PORT or HOST.`,
      "true ERR_WEBHOOK_CLOUD_EVENT The CloudEvent's attribute source must be a URI reference (RFC 3986).",
      'true ERR_WEBHOOK_EVENT_LOG The event log is closed.',
    ]);
  });

  it.each([
    ['node10', 'commonjs'],
    ['nodenext', 'nodenext'],
  ])('finds its types with moduleResolution %s', async (moduleResolution, module) => {
    const program = `import { ConfigError, createWebHook } from 'asmx-webhook';
      createWebHook({ PORT: 0 }).catch((error: unknown) => { if (error instanceof ConfigError) console.log(error.code satisfies string); });`;
    await writeFile(join(folder.path, 'program.ts'), program);
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = ['--noEmit', '--strict', '--lib', 'es2023', '--ignoreDeprecations', '6.0'];
    const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')];
    const modules = ['--moduleResolution', moduleResolution, '--module', module];
    const args = [compiler, ...options, ...types, ...modules, join(folder.path, 'program.ts')];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder.path }).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
    expect([stdout, stderr]).toEqual(['', '']);
  });
});
