import { hostname } from 'node:os';
import { openServiceWarnings } from '../../src/access/local-callers';
import { readConfig } from '../../src/config/config';
import { send } from '../support/http';
import { startService, useService, type TestService } from '../support/service';

type Fields = Readonly<Record<string, string>>;

const KEY = 'key-for-everything-01';
const KEYS = { RECORD_KEYS: KEY, READ_KEYS: KEY };
const BASIC = { Authorization: `Basic ${Buffer.from(`me:${KEY}`).toString('base64')}` };
const KEY_FIELDS = [{ 'X-API-Key': KEY }, { Authorization: `Bearer ${KEY}` }, { 'X-API-Key': KEY, ...BASIC }];

/** The statuses of three operations over HTTP GET; `invoked-operation.test.ts` has the other bindings. */
async function statuses({ url, log }: TestService, headers: Fields): Promise<number[]> {
  const before = (await log.stats()).events;
  const found: number[] = [];
  for (const operation of ['RecordEvent', 'GetEvents', 'HelloWorld'])
    found.push((await send(`${url.replace('0.0.0.0', '127.0.0.1')}/${operation}`, { headers })).status);
  expect((await log.stats()).events - before).toBe(found[0] === 200 ? 1 : 0);
  return found;
}
const ALL = [200, 200, 200];
const NONE = [403, 403, 403];
const HELLO = [403, 403, 200];

const open = useService({ ALLOWED_HOSTS: 'webhook.test, Other.Example' });
const guarded = useService(KEYS);

describe('without keys', () => {
  it.each([
    ...['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil.example.'],
    ...['EVIL.Example:80', 'evil.1a', 'my-machine:8080', '0.0.0.0:8080', '[::]', '[::ffff:127.0.0.1]:8080'],
    '[::ffff:0.0.0.0]',
  ])('no call is taken that names it %s, under which a page of another site may reach it', async (Host) => {
    expect(await statuses(open, { Host })).toEqual(HELLO);
  });

  it.each([
    ...['localhost', 'LOCALHOST:8080', 'app.localhost', 'localhost.', '127.0.0.1', '127.1', '[::1]:8080', '192.0.2.1'],
    ...['[2001:db8::1]:80', 'webhook.test:8080', 'other.example'],
  ])('the calls of scripts, clients and its own pages are taken that name it %s', async (Host) => {
    for (const fields of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { Origin: `http://${Host.toLowerCase()}` }])
      expect(await statuses(open, { Host, ...fields })).toEqual(ALL);
  });

  it.each<Fields>([
    ...['http://evil.example', 'null', 'http://localhost:3000'].map((Origin) => ({ Origin })),
    ...['cross-site', 'same-site'].map((site) => ({ 'Sec-Fetch-Site': site })),
  ])('no page of another site may record or read (%j)', async (fields) => {
    for (const Host of ['localhost:8080', '[::1]:8080', 'webhook.test:8080'])
      expect(await statuses(open, { Host, ...fields })).toEqual(HELLO);
  });

  it('a refusal says which setting takes a name', async () => {
    const { body } = await send(`${open.url}/GetEvents`, { headers: { Host: 'hooks.corp.example' } });
    expect(body).toMatch(/hooks\.corp\.example.*ALLOWED_HOSTS/);
  });

  it.each<[Fields, string, number[]]>([
    [{ HOST: '0.0.0.0', ALLOWED_HOSTS: 'hooks.example' }, 'hooks.example', ALL],
    [{ BASE_URL: 'https://hooks.example' }, 'hooks.example', ALL],
    [{ TRUST_PROXY: '1' }, 'hooks.example', ALL],
    [{ HOST: hostname().toUpperCase() }, hostname(), ALL],
    [{ HOST: '0.0.0.0' }, '192.0.2.1:8080', ALL],
    [{ HOST: '0.0.0.0' }, 'rebound.example', HELLO],
    // Under this name, too, a page of another site may reach it.
    [{ HOST: '0.0.0.0' }, '0.0.0.0:8080', HELLO],
    [{ RECORD_KEYS: KEY }, 'localhost', [401, 200, 200]],
    [{ RECORD_KEYS: KEY }, 'evil.example', [401, 403, 200]],
  ])('but for %j it may be called %s: %j', async (variables, Host, expected) => {
    const service = await startService(variables);
    expect(await statuses(service, { Host })).toEqual(expected);
    if (service.url.includes('0.0.0.0'))
      expect(await statuses(service, { Host, Origin: 'http://evil.example' })).toEqual(HELLO);
  });
});

describe('with keys', () => {
  /** A name over plain HTTP, for which browsers leave out `Sec-Fetch-Site`. */
  const Host = 'hooks.internal:8080';

  it.each<Fields>([
    ...['http://evil.example', 'null', `http://${Host}.evil.example`, Host].map((Origin) => ({ Origin })),
    { Origin: 'http://hooks.internal' },
    { Origin: 'http://hooks.internal:8080, http://evil.example' },
    { Origin: 'http://hooks.internal:8080', 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ])(
    'no page of another site may use a key that its browser keeps, but one that it cannot have (%j)',
    async (fields) => {
      expect(await statuses(guarded, { ...BASIC, Host, ...fields })).toEqual(NONE);
      for (const key of KEY_FIELDS) expect(await statuses(guarded, { ...key, Host, ...fields })).toEqual(ALL);
    },
  );

  it.each<Fields>([
    {},
    { Origin: 'http://hooks.internal:8080' },
    { Origin: 'https://hooks.internal:8080' },
    // What browsers say of a page themselves counts, also behind a proxy that changes the host.
    { Origin: 'https://hooks.example', 'Sec-Fetch-Site': 'same-origin' },
    { Origin: 'chrome-extension://abc', 'Sec-Fetch-Site': 'none' },
  ])('the service’s own pages and programs may call (%j)', async (fields) => {
    expect(await statuses(guarded, { ...BASIC, Host, ...fields })).toEqual(ALL);
  });

  it.each<[Fields, Fields, readonly string[]]>([
    [{ TRUST_PROXY: '1' }, { 'X-Forwarded-Host': 'b.example', 'X-Forwarded-Proto': 'https' }, ['https://b.example']],
    [{ BASE_URL: 'http://hooks.example:8080' }, {}, ['http://hooks.example:8080', 'http://webhook']],
  ])('with %j and %j its own origins are %j', async (variables, fields, own) => {
    const service = await startService({ ...KEYS, ...variables });
    const from = (Origin: string) => statuses(service, { ...BASIC, Host: 'webhook', ...fields, Origin });
    for (const origin of own) expect(await from(origin)).toEqual(ALL);
    expect(await from('https://evil.example')).toEqual(NONE);
  });

  it('a refusal names the header field and what to set', async () => {
    const headers = { ...BASIC, Origin: 'https://hooks.example' };
    const { body } = await send(`${guarded.url}/GetEvents`, { headers });
    expect(body).toContain('A page of another site may not call operations');
    expect(body).toContain('(Origin; if https://hooks.example is this service, set BASE_URL to it)');
  });
});

it('the metrics are for the same sites and names', async () => {
  for (const [{ url }, key, other] of [
    [open, {}, 403],
    [guarded, BASIC, 200],
  ] as const) {
    const statusOf = async (fields: Fields) =>
      (await send(new URL('/metrics', url).href, { headers: { ...key, ...fields } })).status;
    expect(await statusOf({ Origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf({ Origin: new URL(url).origin })).toBe(200);
    expect(await statusOf({ Host: 'evil.example' })).toBe(other);
  }
});

it('the documents stay open, the operator’s port does not, under whatever name it is', async () => {
  const foreign = { Origin: 'http://evil.example' };
  for (const query of ['', '?WSDL', '?op=RecordEvent']) {
    const { status, headers } = await send(guarded.url + query, { headers: foreign });
    expect(status).toBe(200);
    // With no-referrer browsers would send `Origin: null` with the forms of these pages.
    expect(headers['referrer-policy']).toBe('same-origin');
  }
  const { adminUrl } = await startService({ ...KEYS, ADMIN_PORT: '0', ADMIN_HOST: hostname().toUpperCase() });
  for (const page of ['/metrics', '/readyz', '/']) {
    const { href } = new URL(page, adminUrl);
    for (const headers of [foreign, { Host: 'rebound.example' }])
      expect((await send(href, { headers })).status).toBe(403);
    expect((await send(href)).status).toBe(200);
  }
});

describe('the warnings of an open service', () => {
  const RECORD = expect.stringContaining(
    'may record events: set RECORD_KEYS, WEBHOOK_SECRETS or the secrets',
  ) as string;
  const READ = expect.stringContaining('may read events and metrics: set READ_KEYS') as string;
  const TLS = { HOST: '0.0.0.0', TLS_CERT: 'c.pem', TLS_KEY: 'k.pem', TLS_CLIENT_CA: 'ca.pem' };

  it.each<Fields>([
    ...['0.0.0.0', '::', '192.0.2.1', 'hooks.example.com'].map((HOST) => ({ HOST })),
    { TRUST_PROXY: '1' },
    { TRUST_PROXY: 'loopback' },
    { BASE_URL: 'https://hooks.example.com' },
    { HOST: '::1', BASE_URL: 'http://192.0.2.1:8080' },
    { ...TLS, TRUST_PROXY: '1' },
  ])('come for %j', (variables) => {
    const warnings = (keys: Fields) => openServiceWarnings(readConfig({ ...variables, ...keys }));
    expect(warnings({})).toEqual([RECORD, READ]);
    expect(warnings({ READ_KEYS: KEY })).toEqual([RECORD]);
    expect(warnings({ RECORD_KEYS: KEY })).toEqual([READ]);
    for (const secrets of ['WEBHOOK_SECRETS', 'SLACK_SECRETS'])
      expect(warnings({ [secrets]: KEY, READ_KEYS: KEY })).toEqual([]);
  });

  it.each<Fields>([
    {},
    ...['localhost', 'LOCALHOST', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '127.1.2.3'].map((HOST) => ({ HOST })),
    { BASE_URL: 'http://localhost:8080' },
    { BASE_URL: 'http://[::1]:8080', TRUST_PROXY: '0' },
    TLS,
  ])('do not come for %j', (variables) => {
    expect(openServiceWarnings(readConfig(variables))).toEqual([]);
  });
});
