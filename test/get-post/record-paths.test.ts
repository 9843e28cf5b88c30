import { createHmac } from 'node:crypto';
import { Arrival } from '../../src/events/arrival';
import { BINDINGS, callOperation, resultOf } from '../support/bindings';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';
import { openWire } from '../support/wire';

const KEY = 'record-key-0123456789';
const GITHUB_SECRET = 'the-text-of-a-GitHub-secret';
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
const BODY = '{"order":19}';
const PLACE = '/RecordEvent/orders/17%2F1?a=1';

const call = (service: TestService, method: string, headers: Record<string, string> = {}, place = PLACE, body = BODY) =>
  send(service.url + place, {
    method,
    headers: { 'Content-Type': 'application/json', 'Content-Length': String(body.length), ...headers },
    body,
  });
const arrivals = async ({ log }: TestService) =>
  (await log.scan({ after: 0, limit: 100 })).map((event) => {
    const { method, target } = new Arrival(event);
    return [method, target, event.data];
  });

describe.each(['POST', 'DELETE'])('%s below RecordEvent', (method) => {
  it('is recorded with method and path, and answered as RecordEvent is', async () => {
    const service = await startService({ RECORD_PATHS: 'true' });
    expect(resultOf(await call(service, method))).toMatch(/^[\da-f-]{36}$/);
    expect(resultOf(await call(service, method, {}, '/RecordEvent/', ''))).toMatch(/^[\da-f-]{36}$/);
    const path = '/webhooks/Services/WebHooks.asmx';
    expect(await arrivals(service)).toEqual([
      [method, path + PLACE, `"data":${BODY}`],
      [method, `${path}/RecordEvent/`, undefined],
    ]);
  });

  it('is refused as the original did without the setting', async () => {
    const service = await startService();
    const { status, body } = await call(service, method);
    if (method === 'POST')
      expect([status, body]).toEqual([500, 'RecordEvent/orders/17/1 Web Service method name is not valid.\n']);
    else expect([status, body]).toEqual([405, 'Call an operation with GET or POST.\n']);
    expect(await arrivals(service)).toEqual([]);
  });

  it('needs a key or a signature, and is bounded and limited as POST of RecordEvent is', async () => {
    const service = await startService({
      RECORD_PATHS: 'true',
      RECORD_KEYS: KEY,
      WEBHOOK_SECRETS: GITHUB_SECRET,
      MAX_REQUEST_BYTES: '1024',
      RATE_LIMIT: '6/1h',
    });
    const signature = createHmac('sha256', GITHUB_SECRET).update(BODY).digest('hex');
    const statusOf = async (headers?: Record<string, string>, body?: string) =>
      (await call(service, method, headers, PLACE, body)).status;
    expect(await statusOf()).toBe(401);
    expect(await statusOf({ 'X-API-Key': KEY })).toBe(200);
    expect(await statusOf({ 'X-Hub-Signature-256': `sha256=${signature}` })).toBe(200);
    expect(await statusOf({ 'X-Hub-Signature-256': `sha256=${signature.replace(/./, 'x')}`, 'X-API-Key': KEY })).toBe(
      401,
    );
    expect(await statusOf({ 'X-API-Key': `${KEY}0` })).toBe(401);
    expect(await statusOf({ 'X-API-Key': KEY }, 'x'.repeat(1025))).toBe(413);
    expect(await statusOf({ 'X-API-Key': KEY })).toBe(429);
    expect(await arrivals(service)).toHaveLength(2);
  });
});

it('other methods, other operations and RecordEvent itself stay as they are', async () => {
  const [service, without] = [await startService({ RECORD_PATHS: 'true' }), await startService()];
  const places = ['/RecordEvent', '/recordevent/a', '/HelloWorld/a', '/GetEvents/a', '/a/RecordEvent/b', ''];
  const calls = [...places.flatMap((place) => [...METHODS, 'GET', 'OPTIONS'].map((method) => [method, place]))];
  for (const [method = '', place] of calls) {
    if (method === 'POST' && place === '/RecordEvent') continue;
    const [one, other] = await Promise.all(
      [service, without].map((each) => call(each, method, {}, place, method === 'GET' ? '' : BODY)),
    );
    expect([method, place, one?.status, one?.headers.allow]).toEqual([
      method,
      place,
      other?.status,
      other?.headers.allow,
    ]);
  }
  expect((await call(service, 'OPTIONS')).headers.allow).toBe('DELETE, OPTIONS, PATCH, POST, PUT');
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await call(service, method, {}, PLACE, '');
    expect([status, headers.allow]).toEqual([405, 'DELETE, OPTIONS, PATCH, POST, PUT']);
  }
  for (const binding of BINDINGS) expect(await callOperation(service.url, binding, 'HelloWorld')).toBe('Hello World');
});

it.each(['/50%off', '/caf%E9', '/a%', '/a%2Fb'])('the path %s is kept as it came', async (below) => {
  const service = await startService({ RECORD_PATHS: 'true' });
  expect((await call(service, 'POST', {}, `/RecordEvent${below}`)).status).toBe(200);
  const [event] = await arrivals(service);
  expect(event?.[1]).toBe(`/webhooks/Services/WebHooks.asmx/RecordEvent${below}`);
});

it.each(['Idempotency-Key', 'svix-id'])('one %s under another path or method is another event', async (field) => {
  const service = await startService({ RECORD_PATHS: 'true' });
  const key = { [field]: 'k' };
  const ids = new Set<string>();
  for (const [method = '', path = ''] of [
    ['POST', '/RecordEvent/orders/17'],
    ['POST', '/RecordEvent/orders/18'],
    ['DELETE', '/RecordEvent/orders/17'],
    ['POST', '/RecordEvent'],
    ['POST', '/RecordEvent/orders/17'],
  ])
    ids.add(resultOf(await call(service, method, key, path)));
  expect(ids.size).toBe(4);
  const page = await send(`${service.url}?event=3`);
  expect(page.body).toMatch(new RegExp(`${field === 'svix-id' ? 'webhook-id' : field}[^]*?<bdi>k</bdi>`));
});

it('each way to write a path is a delivery of its own, and is recorded as it came', async () => {
  const service = await startService({ RECORD_PATHS: 'true' });
  const place = '/webhooks/Services/WebHooks.asmx/RecordEvent';
  const ways = ['/a/b', '/a//b', '/a/./b', '/a/x/../b', '/%61/b', '/../RecordEvent/a/b?b=//'].map((way) => place + way);
  for (const target of [...ways, ...ways.map((way) => `http://localhost${way}`)]) {
    const wire = await openWire(service.url);
    wire.write(`POST ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`);
    wire.write('Idempotency-Key: k\r\nContent-Length: 0\r\n\r\n');
    await wire.untilClosed();
  }
  expect((await arrivals(service)).map(([, target]) => target)).toEqual(ways);
});

it('a path that would lead out of RecordEvent is another one', async () => {
  const service = await startService({ RECORD_PATHS: 'true' });
  for (const place of ['/RecordEvent/../HelloWorld', '/RecordEvent/%2e%2e/HelloWorld'])
    expect(resultOf(await call(service, 'POST', {}, place))).toBe('Hello World');
  expect(await arrivals(service)).toEqual([]);
});

it('needs httppost', async () => {
  await expect(startService({ RECORD_PATHS: 'true', PROTOCOLS: 'soap11,httpget' })).rejects.toThrow(
    'RECORD_PATHS=true: needs httppost in PROTOCOLS',
  );
});
