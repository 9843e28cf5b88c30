import { createHmac } from 'node:crypto';
import { Arrival } from '../../src/events/arrival';
import { BINDINGS, callOperation, resultOf } from '../support/bindings';
import { send } from '../support/http';
import { PATH, request, sendRaw } from '../support/wire';
import { startService, type TestService } from '../support/service';

const KEY = 'record-key-0123456789';
const GITHUB_SECRET = 'the-text-of-a-GitHub-secret';
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
const ALLOWED = 'DELETE, OPTIONS, PATCH, POST, PUT';
const BODY = '{"order":19}';
const PLACE = '/RecordEvent/orders/17%2F1?a=1';

const start = (variables: Record<string, string> = {}) => startService({ RECORD_PATHS: 'true', ...variables });
const call = (
  service: TestService,
  method: string,
  headers: Record<string, string> = {},
  place = PLACE,
  body = BODY,
) => {
  const length = { 'Content-Length': String(body.length) };
  const all = { 'Content-Type': 'application/json', ...length, ...headers };
  return send(service.url + place, { method, headers: all, body });
};
const arrivals = async ({ log }: TestService) =>
  (await log.scan({ after: 0, limit: 100 })).map((event) => {
    const { method, target } = Arrival.of(event);
    return [method, target?.slice(PATH.length), event.data];
  });

describe.each(['POST', 'DELETE'])('%s below RecordEvent', (method) => {
  it('is recorded with method and path, and answered as RecordEvent is', async () => {
    const service = await start();
    expect(resultOf(await call(service, method))).toMatch(/^[\da-f-]{36}$/);
    expect(resultOf(await call(service, method, {}, '/RecordEvent/', ''))).toMatch(/^[\da-f-]{36}$/);
    expect(await arrivals(service)).toEqual([
      [method, PLACE, `"data":${BODY}`],
      [method, '/RecordEvent/', undefined],
    ]);
  });

  it('is refused as the original did without the setting', async () => {
    const service = await startService();
    const { status, body } = await call(service, method);
    expect([status, body]).toEqual(
      method === 'POST'
        ? [500, 'RecordEvent/orders/17/1 Web Service method name is not valid.\n']
        : [405, 'Call an operation with GET or POST.\n'],
    );
    expect(await arrivals(service)).toEqual([]);
  });

  it('needs a key or a signature, and is bounded and limited as POST of RecordEvent is', async () => {
    const limits = { MAX_REQUEST_BYTES: '1024', RATE_LIMIT: '6/1h' };
    const service = await start({ RECORD_KEYS: KEY, WEBHOOK_SECRETS: GITHUB_SECRET, ...limits });
    const signature = createHmac('sha256', GITHUB_SECRET).update(BODY).digest('hex');
    const key = { 'X-API-Key': KEY };
    const statuses = [];
    for (const [headers, body] of [
      [{}, BODY],
      [key, BODY],
      [{ 'X-Hub-Signature-256': `sha256=${signature}` }, BODY],
      [{ ...key, 'X-Hub-Signature-256': `sha256=${signature.replace(/./, 'x')}` }, BODY],
      [{ 'X-API-Key': `${KEY}0` }, BODY],
      [key, 'x'.repeat(1025)],
      [key, BODY],
    ] as const)
      statuses.push((await call(service, method, headers, PLACE, body)).status);
    expect(statuses).toEqual([401, 200, 200, 401, 401, 413, 429]);
    expect(await arrivals(service)).toHaveLength(2);
  });
});

it('other methods, other operations and RecordEvent itself stay as they are', async () => {
  const [service, without] = [await start(), await startService()];
  const answer = async (one: TestService, method: string, place: string) => {
    const { status, headers } = await call(one, method, {}, place, method === 'GET' ? '' : BODY);
    return [method, place, status, headers.allow];
  };
  for (const place of ['/RecordEvent', '/recordevent/a', '/HelloWorld/a', '/GetEvents/a', '/a/RecordEvent/b', ''])
    for (const method of [...METHODS, 'GET', 'OPTIONS'])
      expect(await answer(service, method, place)).toEqual(await answer(without, method, place));
  expect((await call(service, 'OPTIONS')).headers.allow).toBe(ALLOWED);
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await call(service, method, {}, PLACE, '');
    expect([status, headers.allow]).toEqual([405, ALLOWED]);
  }
  for (const binding of BINDINGS) expect(await callOperation(service.url, binding, 'HelloWorld')).toBe('Hello World');
});

it.each(['Idempotency-Key', 'svix-id', 'x-github-delivery'])('a %s is about one path and method', async (field) => {
  const service = await start();
  const ids = new Set<string>();
  for (const [method = '', path = ''] of [
    ['POST', '/RecordEvent/orders/17'],
    ['POST', '/RecordEvent/orders/18'],
    ['DELETE', '/RecordEvent/orders/17'],
    ['POST', '/RecordEvent'],
    ['POST', '/RecordEvent/orders/17'],
  ])
    ids.add(resultOf(await call(service, method, { [field]: 'k' }, path)));
  expect(ids.size).toBe(4);
  const page = await send(`${service.url}?event=3`);
  expect(page.body).toMatch(new RegExp(`${field === 'svix-id' ? 'webhook-id' : field}[^]*?<bdi>k</bdi>`));
});

it('each way to write a path is a delivery of its own, and is recorded as it came', async () => {
  const service = await start();
  const ways = [
    '/a/b',
    '/a//b',
    '/a/./b',
    '/a/x/../b',
    '/%61/b',
    '/../RecordEvent/a/b?b=//',
    '/a%2Fb',
    '/a%',
    '/caf%E9',
  ];
  const fields = ['Connection: close', 'Idempotency-Key: k', 'Content-Length: 0'];
  for (const host of ['', 'http://localhost'])
    for (const way of ways) await sendRaw(service.url, request(`POST ${host}${PATH}/RecordEvent${way}`, ...fields));
  expect((await arrivals(service)).map(([, target]) => target)).toEqual(ways.map((way) => `/RecordEvent${way}`));
});

it('a path that would lead out of RecordEvent is another one', async () => {
  const service = await start();
  for (const place of ['/RecordEvent/../HelloWorld', '/RecordEvent/%2e%2e/HelloWorld'])
    expect(resultOf(await call(service, 'POST', {}, place))).toBe('Hello World');
  expect(await arrivals(service)).toEqual([]);
});
