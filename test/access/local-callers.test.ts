import { hostname } from 'node:os';
import { BINDINGS, requestOf } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';

const call = (service: TestService, binding: (typeof BINDINGS)[number], operation: string, headers = {}) => {
  const { path, ...question } = requestOf(binding, operation);
  return send(service.url + path, { ...question, headers: { ...question.headers, ...headers } });
};
const count = (service: TestService) => service.log.stats().then(({ events }) => events);

const FOREIGN = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.example.',
  'EVIL.Example:80',
  'evil.1a',
  'my-machine:8080',
  '0.0.0.0:8080',
  '[::]',
  '[::ffff:127.0.0.1]:8080',
  '[::ffff:0.0.0.0]',
];
const OWN = [
  'localhost',
  'LOCALHOST:8080',
  'app.localhost',
  '127.0.0.1',
  '127.1',
  '[::1]:8080',
  '192.0.2.1',
  '[2001:db8::1]:80',
  'webhook.test:8080',
  'other.example',
];
/** One of them over each binding, all over HTTP GET: the check is the same. */
const hostsFor = (binding: string, hosts: readonly string[]) => (binding === 'httpget' ? hosts : hosts.slice(0, 1));

describe('a service without keys on a loopback address', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ ALLOWED_HOSTS: 'webhook.test, Other.Example' });
  });
  afterAll(() => service.stop());

  const refused = (answer: Answer, binding: string) => {
    expect(answer.status).toBe(403);
    if (binding.startsWith('soap')) expect(answer.body).toContain(':Fault>');
  };

  describe.each(BINDINGS)('over %s', (binding) => {
    it.each(hostsFor(binding, FOREIGN))(
      'takes no call that names it %s, under which a page of another site may reach it',
      async (host) => {
        const before = await count(service);
        for (const operation of ['RecordEvent', 'GetEvents'])
          refused(await call(service, binding, operation, { Host: host }), binding);
        expect(await count(service)).toBe(before);
      },
    );

    it.each(['cross-site', 'same-site'])('records nothing that a browser sends for a page (%s)', async (site) => {
      const before = await count(service);
      refused(await call(service, binding, 'RecordEvent', { 'Sec-Fetch-Site': site }), binding);
      expect(await count(service)).toBe(before);
    });

    it.each(hostsFor(binding, OWN))('takes the calls of scripts and clients that name it %s', async (host) => {
      for (const operation of ['RecordEvent', 'GetEvents', 'HelloWorld'])
        expect((await call(service, binding, operation, { Host: host })).status).toBe(200);
    });

    it('takes calls of its own pages, and says hello to everybody', async () => {
      expect((await call(service, binding, 'RecordEvent', { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
      const foreign = { Host: 'evil.example', 'Sec-Fetch-Site': 'cross-site' };
      expect((await call(service, binding, 'HelloWorld', foreign)).status).toBe(200);
    });
  });

  it('shows its metrics and the pages of the events under the same names', async () => {
    const metrics = (host: string) => send(new URL('/metrics', service.url).href, { headers: { Host: host } });
    expect((await metrics('evil.example')).status).toBe(403);
    expect((await metrics('webhook.test')).status).toBe(200);
    const events = (host: string) => send(`${service.url}?events`, { headers: { Host: host } });
    expect((await events('evil.example')).status).toBe(403);
    expect((await events('webhook.test')).status).toBe(200);
  });

  it('says which setting takes a name', async () => {
    const answer = await call(service, 'httpget', 'GetEvents', { Host: 'hooks.corp.example' });
    expect(answer.body).toContain('hooks.corp.example');
    expect(answer.body).toContain('ALLOWED_HOSTS');
  });
});

it.each<[Record<string, string>]>([
  [{ HOST: '0.0.0.0', ALLOWED_HOSTS: 'hooks.example' }],
  [{ BASE_URL: 'https://hooks.example' }],
  [{ TRUST_PROXY: '1' }],
])('with %j it may be called by its name', async (variables) => {
  const service = await startService(variables);
  const url = service.url.replace('0.0.0.0', '127.0.0.1');
  const answer = await send(`${url}/RecordEvent`, { headers: { Host: 'hooks.example' } });
  expect(answer.status).toBe(200);
  await service.stop();
});

it('a service on all addresses is not called 0.0.0.0, under which a page of another site may reach it', async () => {
  const service = await startService({ HOST: '0.0.0.0' });
  expect((await call(service, 'httpget', 'RecordEvent', { Host: '0.0.0.0:8080' })).status).toBe(403);
  await service.stop();
});

it('HOST and ADMIN_HOST are names of the service, however they are written', async () => {
  const name = hostname().toUpperCase();
  const service = await startService({ HOST: name, ADMIN_HOST: name, ADMIN_PORT: '0' });
  expect((await send(`${service.url}/RecordEvent`)).status).toBe(200);
  expect((await send(new URL('/readyz', service.adminUrl).href)).status).toBe(200);
  await service.stop();
});

it('with RECORD_KEYS alone, reading under another name is refused', async () => {
  const service = await startService({ RECORD_KEYS: 'r'.repeat(20) });
  expect((await call(service, 'httpget', 'GetEvents', { Host: 'evil.example' })).status).toBe(403);
  await service.stop();
});
