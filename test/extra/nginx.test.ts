import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { globalAgent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClientAsync } from 'soap';
import { eventsOf } from '../support/bindings';
import { startService, temporaryFolder, type TestService } from '../support/service';
import { describeWith, programPath } from '../support/tools';

const run = promisify(execFile);

describeWith({ nginx: 'nginx-light', openssl: 'openssl' }, 'the service behind nginx', () => {
  let service: TestService;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let nginx: ChildProcess;
  let url: string;
  beforeAll(async () => {
    service = await startService({ TRUST_PROXY: 'loopback' });
    folder = await temporaryFolder();
    const outer = await freePort();
    url = `https://localhost:${String(outer)}/outer/webhooks/Services/WebHooks.asmx`;
    await makeCertificate(folder.path);
    globalAgent.options.ca = await readFile(join(folder.path, 'certificate.pem'));
    const template = await readFile(join(__dirname, '..', 'fixtures', 'nginx.conf'), 'utf8');
    const values: Record<string, string> = {
      folder: folder.path,
      outer: String(outer),
      inner: new URL(service.url).port,
    };
    const configuration = join(folder.path, 'nginx.conf');
    await writeFile(
      configuration,
      template.replace(/@(\w+)@/g, (_placeholder, name: string) => values[name] ?? ''),
    );
    nginx = spawn(programPath('nginx') ?? '', ['-c', configuration, '-e', 'stderr'], { stdio: 'inherit' });
    await answers(url);
  });
  afterAll(async () => {
    const ended = once(nginx, 'exit');
    nginx.kill('SIGTERM');
    await ended;
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

  it('gives pages whose links and samples hold under the outer address', async () => {
    const page = await get(`${url}?op=HelloWorld`);
    expect(page).toContain(`curl &#39;${url}/HelloWorld?&#39;`);
    const action = /action="([^"]*)"/.exec(page)?.[1] ?? '';
    expect(new URL(action, url).href).toBe(`${url}/HelloWorld`);
    expect(await get(new URL(action, url).href)).toContain('Hello World');
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function makeCertificate(folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...subject]);
}

function get(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => {
        resolve(text);
      });
    })
      .on('error', reject)
      .end();
  });
}

/** Waits until somebody answers at an address. */
async function answers(url: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    try {
      await get(url);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
