import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { freePort } from '../../support/program.cjs';
import { send } from '../../support/http';
import { childrenOf, killProcesses, startProcess, type ServiceProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

const OLD_KEY = 'the-old-key-of-sixteen';

const folder = useTemporaryFolder();
afterEach(killProcesses);

/** Writes the `.env` file of the service. */
async function configure(variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder.path, '.env'), lines.join(''));
}

/** Starts the service with what `.env` says, and none of it in the environment. */
async function start(): Promise<ServiceProcess> {
  const service = await startProcess({ PORT: undefined }, folder.path);
  await eventually('both workers have started', () => service.output().match(/"started"/g)?.length === 2);
  return service;
}

describe('SIGHUP with several workers', () => {
  it('replaces no worker where .env has another value of what the supervisor uses, and names it', async () => {
    const settings = { WORKERS: '2', PORT: String(await freePort()), EVENT_LOG: 'sqlite:events.db', ADMIN_PORT: '0' };
    await configure(settings);
    const service = await start();
    const old = await childrenOf(service);
    const others = {
      EVENT_LOG: 'sqlite:other.db',
      HOST: '127.0.0.2',
    };
    for (const [name, value] of Object.entries({
      ...others,
      PORT: '1',
      ADMIN_PORT: '1',
      ADMIN_HOST: '::1',
      WORKERS: '1',
    })) {
      const refusals = () => service.output().split('the workers were not replaced').length;
      const before = refusals();
      await configure({ ...settings, [name]: value });
      service.child.kill('SIGHUP');
      await eventually(`the new ${name} is refused`, () => refusals() > before);
      expect(service.output()).toMatch(`${name}=${value}: takes effect when the service is restarted (.env, line `);
    }
    expect(await childrenOf(service)).toEqual(old);
    expect((await send(`${service.url}/RecordEvent`)).status).toBe(200);
    expect((await send(`${service.url}/GetEvents`)).body).toContain('webhook.recorded');
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('lets no removed key record on a connection to an old worker', async () => {
    const settings = { WORKERS: '2', PORT: String(await freePort()), EVENT_LOG: 'sqlite:events.db' };
    await configure({ ...settings, RECORD_KEYS: OLD_KEY });
    const service = await start();
    const record = (agent: Agent) =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${service.url}/RecordEvent`, { agent, headers: { 'X-API-Key': OLD_KEY } }, (response) => {
          response.resume().on('end', () => {
            resolve(response.statusCode);
          });
        })
          .on('error', reject)
          .end();
      });
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    expect(new Set(await Promise.all(agents.map(record)))).toEqual(new Set([200]));
    await configure({ ...settings, RECORD_KEYS: OLD_KEY.replace('old', 'new') });
    service.child.kill('SIGHUP');
    await eventually('both end', () => service.output().match(/"stopping"/g)?.length === 2);
    expect(new Set(await Promise.all(agents.map(record)))).toEqual(new Set([401]));
    for (const agent of agents) agent.destroy();
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('takes over ALLOWED_HOSTS for ADMIN_PORT, too', async () => {
    const ADMIN_PORT = String(await freePort());
    const settings = { WORKERS: '2', PORT: String(await freePort()), EVENT_LOG: 'sqlite:events.db', ADMIN_PORT };
    await configure({ ...settings, ALLOWED_HOSTS: 'old.example' });
    const service = await start();
    const statuses = () =>
      Promise.all(
        ['old.example', 'new.example', `127.0.0.1:${ADMIN_PORT}`].map(
          async (Host) => (await send(`http://127.0.0.1:${ADMIN_PORT}/metrics`, { headers: { Host } })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 403, 200]);
    await configure({ ...settings, ALLOWED_HOSTS: 'new.example' });
    service.child.kill('SIGHUP');
    await eventually('both are replaced', () => service.output().match(/"stopped"/g)?.length === 2);
    expect(await statuses()).toEqual([403, 200, 200]);
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('keeps what .env says out of the environment of the workers', async () => {
    const secret = 'nats-password-of-somebody';
    await configure({ WORKERS: '2', PORT: String(await freePort()), RECORD_KEYS: OLD_KEY, NATS_PASSWORD: secret });
    const service = await start();
    for (const pid of await childrenOf(service)) {
      const environment = await readFile(`/proc/${String(pid)}/environ`, 'utf8');
      expect(environment).not.toContain(OLD_KEY);
      expect(environment).not.toContain(secret);
    }
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
