import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { variablesOf } from '../../../src/config/variable';
import { VARIABLES } from '../../../src/config/variables';
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
    const { stdout } = await run(process.execPath, ['program.mjs'], options);
    return stdout.trim().split('\n');
  }

  /** Prints the message of the error that starting with these settings throws. */
  const failing = (settings: object): string =>
    `import { createWebHook } from 'asmx-webhook';
     await createWebHook(${JSON.stringify(settings)}).catch((error) => console.log(error.message));`;

  it('starts and ends the service as docs/embedding.md shows, whatever the environment says', async () => {
    const [, example = ''] = /```js\n(.*?)```/s.exec(await readFile(join(ROOT, 'docs', 'embedding.md'), 'utf8')) ?? [];
    const lines = await printed(example, { SERVICE_ROOT: 'other', PORT: 'http' });
    expect(lines).toEqual([
      expect.stringMatching(/^WebHook answers at http:\/\/127\.0\.0\.1:\d+\/webhooks\/Services\/WebHooks\.asmx$/),
      '200',
    ]);
    expect(await readdir(join(folder.path, 'data'))).toEqual(['events.db']);
  });

  it('answers under a namespace without a slash at its end', async () => {
    const lines = await printed(`
      import { createWebHook } from 'asmx-webhook';
      const webhook = await createWebHook({ PORT: 0, SERVICE_NAMESPACE: 'urn:shop:hooks' });
      const answer = await fetch(webhook.url, {
        method: 'POST',
        headers: { 'Content-Type': 'text/xml', SOAPAction: '"urn:shop:hooks/HelloWorld"' },
        body: '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>',
      });
      console.log(answer.status, (await answer.text()).includes('<HelloWorldResponse xmlns="urn:shop:hooks">'));
      await webhook.close();`);
    expect(lines).toEqual(['200 true']);
  });

  it.each([
    [{ PORTS: 1 }, 'PORTS: there is no such setting; did you mean PORT?'],
    [
      { RETENTION_DAYS: 1 },
      'RETENTION_DAYS: there is no such setting; did you mean RETENTION_MAX_EVENTS or RETENTION_MAX_AGE?',
    ],
    [{ ZZZ: 1 }, 'ZZZ: there is no such setting'],
    [{ PORT: 'http' }, 'PORT=http: must be a whole number from 0 to 65535'],
    [{ WORKERS: 2 }, 'WORKERS must be 1 here: asmx-webhook runs several processes.'],
    [
      { EVENT_LOG: 'sqlite:/dev/null/events.db' },
      'The event log /dev/null/events.db cannot be opened: part of its path is a file, not a folder. Set EVENT_LOG to sqlite: and the path of a file.',
    ],
  ])('hears what is wrong with %j', async (settings, message) => {
    expect(await printed(failing(settings))).toEqual([message]);
  });

  it('finds every setting in the types of the package', async () => {
    const types = await readFile(join(ROOT, 'src', 'index.ts'), 'utf8');
    const [, union = ''] = /type SettingName =([^;]*);/.exec(types) ?? [];
    const names = variablesOf(VARIABLES).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]));
    expect([...union.matchAll(/'(\w+)'/g)].map(([, name]) => name)).toEqual(names);
  });

  it('ends by itself when the address is taken: the log is closed', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect(await printed(failing({ PORT: port }))).toEqual([
      `Port ${String(port)} on 127.0.0.1 is taken. Stop that program or set PORT.`,
    ]);
    taken.close();
  });

  it('may use the libraries that the service uses, which are as they were', async () => {
    const lines = await printed(`
      import { createRequire } from 'node:module';
      import { createWebHook } from 'asmx-webhook';
      const webhook = await createWebHook({ PORT: 0 });
      const require = createRequire(${JSON.stringify(join(ROOT, 'package.json'))});
      const express = require('express');
      const app = express();
      app.use(express.json(), express.static('.'));
      app.post('/', (request, response) => response.json({ ...request.body, type: request.is('json') }));
      const server = app.listen(0, '127.0.0.1', async () => {
        const axios = require('axios');
        const client = axios.create({ baseURL: 'http://127.0.0.1:' + server.address().port });
        const { data } = await client.post('/', { a: 1 });
        console.log(JSON.stringify(data), axios.isAxiosError(await client.get('/none').catch((error) => error)));
        server.close();
        await webhook.close();
      });
      const { convert, create, fragment } = require('xmlbuilder2');
      console.log(create('<a><b/></a>').root().toString(), fragment('<c/>').toString(), convert('<a>1</a>', { format: 'json' }));`);
    expect(lines).toEqual(['<a><b/></a> <c/> {"a":"1"}', '{"a":1,"type":"json"} true']);
  });
});
