import { readFile } from 'node:fs/promises';
import { globalAgent } from 'node:https';
import { join } from 'node:path';
import { createClientAsync } from 'soap';
import { eventsOf } from '../support/bindings';
import { send } from '../support/http';
import { freePort } from '../support/program.cjs';
import { NGINX, startNginx } from '../support/nginx';
import { startService, type TestService } from '../support/service';
import { temporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

describeWith(NGINX, 'the service behind nginx', () => {
  let service: TestService;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let nginx: Awaited<ReturnType<typeof startNginx>>;
  let url: string;
  beforeAll(async () => {
    service = await startService({ TRUST_PROXY: 'loopback' });
    folder = await temporaryFolder();
    const outer = await freePort();
    url = `https://localhost:${String(outer)}/outer/webhooks/Services/WebHooks.asmx`;
    nginx = await startNginx(folder.path, [service.url], url, {
      'location ~* ^/webhooks/': 'location ~* ^/outer/webhooks/',
      'proxy_pass http://webhook;': 'rewrite ^/outer(/.*) $1 break; proxy_pass http://webhook;',
      'X-Forwarded-Prefix ""': 'X-Forwarded-Prefix /outer',
    });
    globalAgent.options.ca = await readFile(join(folder.path, 'cert.pem'));
  });
  afterAll(async () => {
    await nginx.stop();
    globalAgent.destroy();
    await service.stop();
    await folder.remove();
  });

  it.each([
    ['WebHookSoap', false],
    ['WebHookSoap12', true],
  ])('names the outer address, under which a client made from the WSDL works on port %s', async (port, soap12) => {
    const client = await createClientAsync(`${url}?WSDL`, { forceSoap12Headers: soap12 });
    const { ports } = (
      client as unknown as {
        wsdl: { definitions: { services: { WebHook: { ports: Record<string, { location: string }> } } } };
      }
    ).wsdl.definitions.services.WebHook;
    expect(ports[port]?.location).toBe(url);
    const call = async (operation: string): Promise<string> => {
      const method = (client as unknown as Record<string, (input: object) => Promise<[Record<string, string>]>>)[
        `${operation}Async`
      ];
      const [result] = (await method?.({})) ?? [{}];
      return result[`${operation}Result`] ?? '';
    };
    const id = await call('RecordEvent');
    expect(eventsOf(await call('GetEvents')).map((event) => event.id)).toContain(id);
  });

  it('passes on a path in other letter case, as IIS does', async () => {
    const other = url.replace('webhooks/Services', 'WebHooks/services');
    expect((await send(`${other}/HelloWorld`)).body).toContain('Hello World');
    expect((await send(`${other}/RecordEvent`)).body).toMatch(/>[\da-f-]{36}</);
  });

  it('gives pages whose links and samples hold under the outer address', async () => {
    const { body: page } = await send(`${url}?op=HelloWorld`);
    expect(page).toContain(`curl &quot;${url}/HelloWorld?&quot;`);
    const action = /action="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(new URL(action, url).href).toBe(`${url}/HelloWorld`);
    expect((await send(new URL(action, url).href)).body).toContain('Hello World');
  });
});
