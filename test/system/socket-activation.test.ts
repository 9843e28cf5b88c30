import { readFile } from 'node:fs/promises';
import { ACTIVATION, startActivated, type ActivatedService } from '../support/activated';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { everyEvent } from '../support/load';
import { useTemporaryFolder } from '../support/temporary-folder';
import { describeWith } from '../support/tools';

const PATH = '/webhooks/Services/WebHooks.asmx';

describeWith(ACTIVATION, 'the service on sockets of a service manager', () => {
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
    for (const times of [1, 2]) {
      const answered = ids.length;
      await eventually('calls are answered', () => ids.length > answered + 50);
      process.kill(times === 1 ? pid : await started(times), 'SIGTERM');
      await started(times + 1);
    }
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

  it('keeps the variables that tell of the sockets from its workers, which all answer on the public one', async () => {
    const { addresses, started } = await start(['webhook', 'admin'], { WORKERS: '2' });
    const supervisor = String(await started(1));
    const [address = '', admin = ''] = addresses;
    expect((await send(`${admin}/readyz`)).status).toBe(200);
    const workers = (await readFile(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8')).trim().split(' ');
    for (const worker of workers) process.kill(Number(worker), 'SIGKILL');
    // Connections wait until a new worker answers, on the same socket.
    expect((await send(`${address}${PATH}/HelloWorld`)).status).toBe(200);
  });

  it.each([
    [['webhook', 'other'], 'LISTEN_FDNAMES=webhook:other: must name each socket webhook or admin, and no two the same'],
    [['webhook', 'webhook'], 'LISTEN_FDNAMES=webhook:webhook: must name each socket webhook or admin'],
  ])('does not start with sockets named %j', async (names, message) => {
    const { output } = await start(names);
    await eventually('it says why', () => output().includes(message));
  });
});
