import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { eventually } from '../../support/eventually';
import { freePort } from '../../support/program.cjs';
import { send } from '../../support/http';
import { childrenOf, configure, killProcesses, startProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

const OLD_KEY = 'the-old-key-of-sixteen';

const folder = useTemporaryFolder();
afterEach(killProcesses);

/** Starts the service with two workers and these settings, of which `.env` has all and the environment none. */
async function start(given: Readonly<Record<string, string>>) {
  const settings = { WORKERS: '2', PORT: String(await freePort()), EVENT_LOG: 'sqlite:events.db' };
  await configure(folder.path, { ...settings, ...given });
  const service = await startProcess({ PORT: undefined }, folder.path);
  await eventually('both workers have started', () => service.output().match(/"started"/g)?.length === 2);
  /** Gives it other settings. */
  const renew = async (others: Readonly<Record<string, string>>) => {
    await configure(folder.path, { ...settings, ...others });
    service.child.kill('SIGHUP');
  };
  return { service, renew };
}

describe('SIGHUP with several workers', () => {
  it('replaces no worker where .env has another value of what the supervisor uses, and names it', async () => {
    const { service, renew } = await start({ ADMIN_PORT: '0' });
    const old = await childrenOf(service);
    // As a terminal sends it to all processes.
    for (const pid of old) process.kill(pid, 'SIGHUP');
    await renew({ ADMIN_PORT: '1' });
    await service.logged('the workers were not replaced');
    expect(service.output()).toMatch('ADMIN_PORT=1: takes effect when the service is restarted (.env, line ');
    expect(await childrenOf(service)).toEqual(old);
    expect((await send(`${service.url}/RecordEvent`)).status).toBe(200);
    expect((await send(`${service.url}/GetEvents`)).body).toContain('webhook.recorded');
    expect(await service.end('SIGTERM')).toBe(0);
  });

  it('lets no removed key record on a connection to an old worker', async () => {
    const { service, renew } = await start({ RECORD_KEYS: OLD_KEY });
    const record = async (agent: Agent) =>
      (await send(`${service.url}/RecordEvent`, { agent, headers: { 'X-API-Key': OLD_KEY } })).status;
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    expect(new Set(await Promise.all(agents.map(record)))).toEqual(new Set([200]));
    await renew({ RECORD_KEYS: OLD_KEY.replace('old', 'new') });
    await eventually('both end', () => service.output().match(/"stopping"/g)?.length === 2);
    expect(new Set(await Promise.all(agents.map(record)))).toEqual(new Set([401]));
    for (const agent of agents) agent.destroy();
  });

  it('takes over ALLOWED_HOSTS, and what is cut out as a secret, for ADMIN_PORT, too', async () => {
    const ADMIN_PORT = String(await freePort());
    const { service, renew } = await start({ ADMIN_PORT, ALLOWED_HOSTS: 'old.example' });
    const statuses = () =>
      Promise.all(
        ['old.example', 'new.example', `127.0.0.1:${ADMIN_PORT}`].map(
          async (Host) => (await send(`http://127.0.0.1:${ADMIN_PORT}/metrics`, { headers: { Host } })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 403, 200]);
    await renew({ ADMIN_PORT, ALLOWED_HOSTS: 'new.example', RECORD_KEYS: OLD_KEY });
    await eventually('both are replaced', () => service.output().match(/"stopped"/g)?.length === 2);
    expect(await statuses()).toEqual([403, 200, 200]);
    await send(`http://127.0.0.1:${ADMIN_PORT}/${OLD_KEY}`);
    await eventually('it is refused', () => service.output().includes('"path":"/***"'));
  });

  it('keeps what .env says out of the environment of the workers', async () => {
    const secret = 'nats-password-of-somebody';
    const { service } = await start({ RECORD_KEYS: OLD_KEY, NATS_PASSWORD: secret });
    for (const pid of await childrenOf(service)) {
      const environment = await readFile(`/proc/${String(pid)}/environ`, 'utf8');
      expect(environment).not.toContain(OLD_KEY);
      expect(environment).not.toContain(secret);
    }
  });
});
