import { requestOf, type BindingName } from '../support/bindings';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';

const KEY = 'key-for-everything-01';
const OPERATIONS = ['RecordEvent', 'GetEvents', 'HelloWorld'] as const;
const basic = { Authorization: `Basic ${Buffer.from(`me:${KEY}`).toString('base64')}` };
const KEYS = { RECORD_KEYS: KEY, READ_KEYS: KEY };

let open: TestService;
let guarded: TestService;
let behindProxy: TestService;
let published: TestService;
beforeAll(async () => {
  open = await startService({ ALLOWED_HOSTS: 'webhook.test' });
  guarded = await startService({ ...KEYS, ADMIN_PORT: '0' });
  behindProxy = await startService({ ...KEYS, TRUST_PROXY: '1' });
  published = await startService({ ...KEYS, BASE_URL: 'http://hooks.example:8080' });
});
afterAll(() => Promise.all([open, guarded, behindProxy, published].map((service) => service.stop())));

type Fields = Readonly<Record<string, string>>;

async function statusOf(service: TestService, binding: BindingName, operation: string, fields: Fields) {
  const { path, ...question } = requestOf(binding, operation);
  const before = (await service.log.stats()).events;
  const { status } = await send(service.url + path, { ...question, headers: { ...question.headers, ...fields } });
  const isRecorded = (await service.log.stats()).events > before;
  expect(isRecorded).toBe(status === 200 && operation === 'RecordEvent');
  return status;
}

/** A name over plain HTTP, for which browsers leave out `Sec-Fetch-Site`. */
const HOST = 'hooks.internal:8080';

const FOREIGN: readonly Fields[] = [
  { Origin: 'http://evil.example' },
  { Origin: 'null' },
  { Origin: 'http://hooks.internal' },
  { Origin: 'http://hooks.internal:8080.evil.example' },
  { Origin: 'hooks.internal:8080' },
  { Origin: 'http://hooks.internal:8080, http://evil.example' },
  { Origin: 'http://hooks.internal:8080', 'Sec-Fetch-Site': 'cross-site' },
];
const OWN: readonly Fields[] = [
  {},
  { Origin: 'http://hooks.internal:8080' },
  { Origin: 'https://hooks.internal:8080' },
  // What browsers say of a page themselves counts, also behind a proxy that changes the host.
  { Origin: 'https://hooks.example', 'Sec-Fetch-Site': 'same-origin' },
  { Origin: 'chrome-extension://abc', 'Sec-Fetch-Site': 'none' },
];

describe.each(['soap11', 'httpget'] as const)('over %s', (binding) => {
  it.each(FOREIGN)(
    'with keys no page of another site may call with the key that the browser keeps, but with one that it cannot have (%j)',
    async (fields) => {
      for (const operation of OPERATIONS)
        expect(await statusOf(guarded, binding, operation, { ...basic, Host: HOST, ...fields })).toBe(403);
      for (const proof of [{ 'X-API-Key': KEY }, { Authorization: `Bearer ${KEY}` }])
        for (const operation of OPERATIONS)
          expect(await statusOf(guarded, binding, operation, { ...proof, Host: HOST, ...fields })).toBe(200);
    },
  );

  it.each(OWN)('with keys the service’s own pages and programs may (%j)', async (fields) => {
    for (const operation of OPERATIONS)
      expect(await statusOf(guarded, binding, operation, { ...basic, Host: HOST, ...fields })).toBe(200);
  });

  it.each([{ Origin: 'http://evil.example' }, { Origin: 'null' }, { Origin: 'http://localhost:3000' }])(
    'without keys no page of another site may record or read (%j)',
    async (fields) => {
      for (const Host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'webhook.test:8080']) {
        expect(await statusOf(open, binding, 'RecordEvent', { Host, ...fields })).toBe(403);
        expect(await statusOf(open, binding, 'GetEvents', { Host, ...fields })).toBe(403);
        expect(await statusOf(open, binding, 'HelloWorld', { Host, ...fields })).toBe(200);
        const own = { Host, Origin: `http://${Host}` };
        expect(await statusOf(open, binding, 'RecordEvent', own)).toBe(200);
      }
    },
  );

  it('behind a proxy the origin is that of the address that the proxy states', async () => {
    const call = (Origin: string) =>
      statusOf(behindProxy, binding, 'RecordEvent', {
        ...basic,
        Host: 'webhook',
        'X-Forwarded-Host': 'hooks.example',
        'X-Forwarded-Proto': 'https',
        Origin,
      });
    expect(await call('https://hooks.example')).toBe(200);
    expect(await call('https://evil.example')).toBe(403);
  });

  it('with BASE_URL the origin is that, or the host that was asked', async () => {
    const call = (Origin: string) => statusOf(published, binding, 'RecordEvent', { ...basic, Host: 'webhook', Origin });
    expect(await call('http://hooks.example:8080')).toBe(200);
    expect(await call('http://webhook')).toBe(200);
    expect(await call('http://evil.example')).toBe(403);
  });
});

it('what is said names the header field and what to set', async () => {
  const { body } = await send(`${guarded.url}/RecordEvent`, { headers: { ...basic, Origin: 'https://hooks.example' } });
  expect(body).toContain('A page of another site may not call operations');
  expect(body).toContain('(Origin; if https://hooks.example is this service, set BASE_URL to it)');
});

it('with and without keys the pages of the events and the metrics are refused to pages of other sites', async () => {
  const metricsOf = ({ url }: TestService) => new URL('/metrics', url).href;
  const plain = await startService(KEYS);
  for (const fields of [{ Origin: 'http://evil.example' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
    for (const [service, key] of [
      [open, {}],
      [plain, basic],
    ] as const) {
      const headers = { ...key, ...fields };
      for (const query of ['?events', '?events=refusals', '?event=1'])
        expect((await send(service.url + query, { headers })).status).toBe(403);
      expect((await send(metricsOf(service), { headers })).status).toBe(403);
    }
  }
  for (const [service, key] of [
    [open, {}],
    [plain, basic],
  ] as const) {
    const headers = { ...key, Origin: new URL(service.url).origin };
    for (const address of [`${service.url}?events`, metricsOf(service)])
      expect((await send(address, { headers })).status).toBe(200);
  }
  await plain.stop();
});

it('the documents stay open, the operator’s port and a service without keys that others reach do not', async () => {
  const headers = { Origin: 'http://evil.example' };
  for (const query of ['', '?WSDL', '?op=RecordEvent']) {
    const { status, headers: fields } = await send(guarded.url + query, { headers });
    expect(status).toBe(200);
    // With no-referrer browsers would send `Origin: null` with the forms of these pages.
    expect(fields['referrer-policy']).toBe('same-origin');
  }
  for (const page of ['/metrics', '/readyz', '/']) {
    const { href } = new URL(page, guarded.adminUrl);
    for (const foreign of [headers, { Host: 'rebound.example' }])
      expect((await send(href, { headers: foreign })).status).toBe(403);
    expect((await send(href)).status).toBe(200);
  }
  const everybodys = await startService({ HOST: '0.0.0.0' });
  const url = everybodys.url.replace('0.0.0.0', '127.0.0.1');
  for (const foreign of [headers, { Host: 'rebound.example' }])
    expect((await send(`${url}/RecordEvent`, { headers: foreign })).status).toBe(403);
  expect((await send(`${url}/RecordEvent`, { headers: { Host: '192.0.2.1:8080' } })).status).toBe(200);
  await everybodys.stop();
});
