import { signerOf } from '../../../src/cli/forward/message';
import { Sender } from '../../../src/senders/sender';
import { eventually } from '../../support/eventually';
import { freePort } from '../../support/program.cjs';
import { send } from '../../support/http';
import { configure, killProcesses, startProcess, type ServiceProcess } from '../../support/process';
import { useTemporaryFolder } from '../../support/temporary-folder';

const folder = useTemporaryFolder();
afterEach(killProcesses);

const BODY = '{"order":17}';

/** The settings with credentials; for secrets, a sender that signs with one. */
const SETTINGS = {
  RECORD_KEYS: undefined,
  READ_KEYS: undefined,
  WEBHOOK_SECRETS: 'github',
  STRIPE_SECRETS: 'stripe',
  SHOPIFY_SECRETS: 'shopify',
  SLACK_SECRETS: 'slack',
  GITLAB_TOKENS: 'gitlab',
};

/** How a call of `BODY` shows the credential of a setting. */
function shown(sender: string | undefined, credential: string): Readonly<Record<string, string>> {
  const signing = Sender.named(sender);
  return signing === undefined
    ? { 'x-api-key': credential.replace('shop ', '') }
    : (signerOf(signing, credential)?.({}, 'id', Buffer.from(BODY)) ?? {});
}

/** The value of each setting: its name before a text, and a name before one that may have it. */
const credentials = (age: string) =>
  Object.fromEntries(
    Object.keys(SETTINGS).map((name) => [name, `${name === 'RECORD_KEYS' ? 'shop ' : ''}${age}-${name}`]),
  );

/** The settings whose credential the service takes. */
async function accepted({ url }: ServiceProcess, age: string): Promise<string[]> {
  const taken: string[] = [];
  const all = credentials(age);
  for (const [name, sender] of Object.entries(SETTINGS)) {
    const operation = name === 'READ_KEYS' ? 'GetEvents' : 'RecordEvent';
    const headers = { ...shown(sender, all[name] ?? ''), 'content-type': 'application/json' };
    const { status } = await send(`${url}/${operation}`, { method: 'POST', headers, body: BODY });
    if (status === 200) taken.push(name);
    else expect(status).toBe(401);
  }
  return taken;
}

describe('SIGHUP', () => {
  it.each(['1', '2'])(
    'replaces every key and secret and the retention, of WORKERS=%s, and refuses no call',
    async (workers) => {
      const stays = 'crm the-key-that-stays';
      const settings = { WORKERS: workers, PORT: String(await freePort()), EVENT_LOG: 'sqlite:events.db' };
      const withStaying = (all: Record<string, string>) => ({
        ...all,
        RECORD_KEYS: `${all.RECORD_KEYS ?? ''},${stays}`,
      });
      await configure(folder.path, { ...settings, ...withStaying(credentials('old-and-long-enough')) });
      const service = await startProcess({ PORT: undefined }, folder.path);
      const started = () => service.output().match(/"started"/g)?.length === Number(workers);
      await eventually('every worker has started', started);
      const all = Object.keys(SETTINGS);
      expect(await accepted(service, 'old-and-long-enough')).toEqual(all);

      const statuses = new Set<number>();
      const control = { ended: false };
      const caller = async (): Promise<void> => {
        const headers = { 'x-api-key': 'the-key-that-stays' };
        while (!control.ended)
          statuses.add((await send(`${service.url}/RecordEvent`, { method: 'POST', headers })).status);
      };
      const load = [caller(), caller(), caller()];
      await configure(folder.path, {
        ...settings,
        ...withStaying(credentials('new-and-long-enough')),
        RETENTION_MAX_EVENTS: '3',
      });
      service.child.kill('SIGHUP');
      if (workers === '1') await service.logged('settings read again');
      else await eventually('both workers are replaced', () => service.output().match(/"stopped"/g)?.length === 2);
      control.ended = true;
      await Promise.all(load);
      expect([...statuses]).toEqual([200]);
      expect(await accepted(service, 'old-and-long-enough')).toEqual([]);
      expect(await accepted(service, 'new-and-long-enough')).toEqual(all);
      await eventually('events past the new retention are forgotten', async () => {
        const { body } = await send(`${service.url}/GetEvents`, {
          headers: { 'x-api-key': 'new-and-long-enough-READ_KEYS', accept: 'application/json' },
        });
        return (JSON.parse(body) as unknown[]).length === 3;
      });
      expect(await service.end('SIGTERM')).toBe(0);
    },
  );

  it('names what needs a restart, and keeps all that was if a setting is wrong', async () => {
    const settings = { PORT: String(await freePort()), EVENT_LOG: 'sqlite:events.db' };
    await configure(folder.path, { ...settings, RECORD_KEYS: 'shop the-first-key-of-all' });
    const service = await startProcess({ PORT: undefined }, folder.path);
    await configure(folder.path, { ...settings, RECORD_KEYS: 'shop a-second-key-of-all', MAX_CONNECTIONS: '0' });
    service.child.kill('SIGHUP');
    const { reason } = await service.logged('settings not usable, those from before stay in use');
    expect(reason).toContain('MAX_CONNECTIONS=0: must be a whole number');
    const record = (key: string) =>
      send(`${service.url}/RecordEvent`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
    expect((await record('a-second-key-of-all')).status).toBe(401);
    expect((await record('the-first-key-of-all')).status).toBe(200);

    const later = { RECORD_KEYS: 'shop a-second-key-of-all', MAX_CONNECTIONS: '9', GET_EVENTS_LIMIT: '5' };
    await configure(folder.path, { ...settings, ...later });
    service.child.kill('SIGHUP');
    const { needRestart } = await service.logged('settings read again');
    expect(needRestart).toEqual(['GET_EVENTS_LIMIT', 'MAX_CONNECTIONS']);
    expect((await record('the-first-key-of-all')).status).toBe(401);
    expect((await record('a-second-key-of-all')).status).toBe(200);
  });
});
