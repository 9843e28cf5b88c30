import { readFile } from 'node:fs/promises';
import { globalAgent } from 'node:https';
import { join } from 'node:path';
import { ACTIVATION, startActivated, type ActivatedService } from '../support/activated';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { everyEvent } from '../support/load';
import { get, makeCertificate } from '../support/nginx';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const PATH = '/webhooks/Services/WebHooks.asmx';

describeWith({ ...ACTIVATION, openssl: 'openssl' }, 'the service on sockets of a service manager', () => {
  const folder = useTemporaryFolder();
  let service: ActivatedService | undefined;
  const start = async (names: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
    (service = await startActivated(names, variables, folder.path));
  afterEach(() => service?.stop());

  it.each([
    ['alone', {}],
    ['with workers', { WORKERS: '2' }],
  ])('refuses no connection while it is restarted, and loses nothing: %s', async (_how, variables) => {
    const { addresses, started } = await start(['webhook'], variables);
    const url = `${addresses[0] ?? ''}${PATH}`;
    const ids: string[] = [];
    const failures: unknown[] = [];
    let done = false;
    const call = async (): Promise<void> => {
      while (!done) {
        const { status, body } = await send(`${url}/RecordEvent`).catch((error: unknown) => ({
          status: 0,
          body: String(error),
        }));
        if (status === 200) ids.push(/>([^<]*)<\/string>/.exec(body)?.[1] ?? '');
        else failures.push(body);
      }
    };
    const pid = await started(1);
    const calls = Array.from({ length: 4 }, call);
    await eventually('calls are answered', () => ids.length > 50);
    process.kill(pid, 'SIGTERM');
    await started(2);
    done = true;
    await Promise.all(calls);
    expect(failures).toEqual([]);
    expect((await everyEvent(url)).map(({ id }) => id).sort()).toEqual([...ids].sort());
  });

  it('tells the public socket from that of the admin pages by name, and says where it answers', async () => {
    const { addresses, started, output } = await start(['admin', 'webhook'], { HOST: '192.0.2.1', ADMIN_PORT: '1' });
    const [admin = '', address = ''] = addresses;
    await started(1);
    expect(output()).toContain(`WebHook answers at ${address}${PATH}\n`);
    expect((await send(`${address}${PATH}/HelloWorld`)).status).toBe(200);
    expect((await send(`${address}/metrics`)).status).toBe(404);
    expect((await send(`${admin}/metrics`)).status).toBe(200);
    expect((await send(`${admin}${PATH}/HelloWorld`)).status).toBe(404);
  });

  it('replaces workers that all died at once, on the same socket', async () => {
    const { addresses, started } = await start(['webhook', 'admin'], { WORKERS: '2' });
    const supervisor = String(await started(1));
    const [address = '', admin = ''] = addresses;
    expect((await send(`${admin}/readyz`)).status).toBe(200);
    const workers = (await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8')).trim().split(' ');
    for (const worker of workers) process.kill(Number(worker), 'SIGKILL');
    // Connections wait until a new worker answers, on the same socket.
    expect((await send(`${address}${PATH}/HelloWorld`)).status).toBe(200);
  });

  it('speaks TLS on the public socket', async () => {
    await makeCertificate(folder.path);
    const certificate = join(folder.path, 'certificate.pem');
    const { addresses, started } = await start(['webhook'], {
      TLS_CERT: certificate,
      TLS_KEY: join(folder.path, 'key.pem'),
    });
    await started(1);
    globalAgent.options.ca = await readFile(certificate);
    const { text } = await get(`https://localhost:${new URL(addresses[0] ?? '').port}${PATH}/HelloWorld`);
    globalAgent.destroy();
    expect(text).toContain('>Hello World</string>');
  });
});
