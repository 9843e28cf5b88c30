import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { globalAgent } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClientAsync } from 'soap';
import { eventsOf } from '../support/bindings';
import { send } from '../support/http';
import { freePort } from '../support/program.cjs';
import { adapted, NGINX, startNginx } from '../support/nginx';
import { useService } from '../support/service';
import { useSharedFolder, useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const run = promisify(execFile);

const DEPLOY = join(__dirname, '..', '..', 'deploy');

describeWith(NGINX, 'behind deploy/nginx.conf', () => {
  const service = useService({ TRUST_PROXY: 'loopback' });
  /** Starts nginx before the tests of a block. Returns the outer address. */
  const useNginx = (prefix: string, changes: Readonly<Record<string, string>> = {}) => {
    const outer = { url: '' };
    const folder = useSharedFolder();
    let nginx: Awaited<ReturnType<typeof startNginx>>;
    beforeAll(async () => {
      outer.url = `https://localhost:${String(await freePort())}${prefix}/webhooks/Services/WebHooks.asmx`;
      nginx = await startNginx(folder.path, [service.url], outer.url, changes);
      globalAgent.options.ca = await readFile(join(folder.path, 'cert.pem'));
    });
    afterAll(async () => {
      await nginx.end();
      globalAgent.destroy();
    });
    return outer;
  };

  describe('as it is', () => {
    const outer = useNginx('');

    it('the service has its outer address, which no caller can state, and neither metrics nor too large bodies', async () => {
      expect((await send(`${outer.url}/HelloWorld`)).body).toContain('>Hello World</string>');
      for (const path of ['/metrics', '/readyz']) expect((await send(new URL(path, outer.url).href)).status).toBe(404);
      const headers = { Forwarded: 'host=a.example', 'X-Forwarded-Host': 'a.example', 'X-Forwarded-Prefix': '/a' };
      expect((await send(`${outer.url}?WSDL`, { headers })).body).toContain(`location="${outer.url}"`);
      for (const [bytes, status] of [
        [4 * 1024 * 1024, 200],
        [4 * 1024 * 1024 + 1, 413],
      ] as const) {
        const question = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(bytes) };
        expect([bytes, (await send(`${outer.url}/RecordEvent`, question)).status]).toEqual([bytes, status]);
      }
    });
  });

  describe('with a prefix', () => {
    const outer = useNginx('/outer', {
      'location ~* ^/webhooks/': 'location ~* ^/outer/webhooks/',
      'proxy_pass http://webhook;': 'rewrite ^/outer(/.*) $1 break; proxy_pass http://webhook;',
      'X-Forwarded-Prefix ""': 'X-Forwarded-Prefix /outer',
    });

    it.each([
      ['WebHookSoap', false],
      ['WebHookSoap12', true],
    ])('a client made from the WSDL works on port %s', async (port, forceSoap12Headers) => {
      const client = await createClientAsync(`${outer.url}?WSDL`, { forceSoap12Headers });
      expect(client.describe()).toHaveProperty(`WebHook.${port}`);
      const { RecordEventAsync, GetEventsAsync } = client as unknown as Record<
        'RecordEventAsync' | 'GetEventsAsync',
        (input: object) => Promise<[Record<string, string>]>
      >;
      const [{ RecordEventResult: id }] = await RecordEventAsync({});
      const [{ GetEventsResult: events = '' }] = await GetEventsAsync({});
      expect(eventsOf(events).map((event) => event.id)).toContain(id);
    });

    it('a path in other letter case is passed on, as IIS does', async () => {
      const other = outer.url.replace('webhooks/Services', 'WebHooks/services');
      expect((await send(`${other}/HelloWorld`)).body).toContain('Hello World');
      expect((await send(`${other}/RecordEvent`)).body).toMatch(/>[\da-f-]{36}</);
    });

    it('addresses in the WSDL, links and samples are the outer ones', async () => {
      const wsdl = (await send(`${outer.url}?WSDL`)).body;
      const addresses = Array.from(wsdl.matchAll(/:address location="([^"]*)"/g), ([, address]) => address);
      expect(new Set(addresses)).toEqual(new Set([outer.url]));
      const { body: page } = await send(`${outer.url}?op=HelloWorld`);
      expect(page).toContain(`curl &quot;${outer.url}/HelloWorld?&quot;`);
      const action = new URL(/action="([^"]*)"/.exec(page)?.[1] ?? '', outer.url).href;
      expect(action).toBe(`${outer.url}/HelloWorld`);
    });
  });
});

const SERVICES = ['webhook.service', 'webhook-forward.service', 'webhook-backup.service'];
const UNITS = [...SERVICES, 'webhook-backup.timer'];

describeWith({ 'systemd-analyze': 'systemd' }, 'the systemd units of deploy/', () => {
  const folder = useTemporaryFolder();
  const verify = (files: readonly string[]) => run('systemd-analyze', ['verify', '--man=no', ...files]);

  it('are such that systemd takes them without a remark', async () => {
    const files = UNITS.map((name) => join(folder.path, name));
    for (const name of UNITS) {
      const unit = await readFile(join(DEPLOY, name), 'utf8');
      const values = SERVICES.includes(name) ? { '/usr/bin/node': process.execPath } : {};
      await writeFile(join(folder.path, name), adapted(unit, values));
    }
    expect(await verify(files)).toEqual({ stdout: '', stderr: '' });
    const [file = ''] = files;
    await writeFile(file, (await readFile(file, 'utf8')).replace('Restart=always', 'Restart=perhaps'));
    expect((await verify(files)).stderr).toContain('perhaps');
  });

  it.each(SERVICES)('leave %s an exposure of less than 2.0', async (name) => {
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', join(DEPLOY, name)]);
    expect(Number(/Overall exposure level for \S+: ([\d.]+) /.exec(stdout)?.[1])).toBeLessThan(2);
  });
});
