import { Sender } from '../../src/senders/sender';
import { Contract } from '../../src/contract/contract';
import { receivedMessage } from '../../src/forward/message';
import { signerOf } from '../../src/forward/signing';
import { send, type Question } from '../support/http';
import { startService } from '../support/service';
import type { StoredEvent } from '../../src/events/stored-event';

const EVENT: StoredEvent = {
  position: 1,
  id: '1',
  source: '/s',
  attributes: '{"specversion":"1.0","id":"1","source":"/s","type":"t","binding":"httppost"}',
  data: '"data":{"order":19}',
  arrival: '',
  recordedAt: 0,
  idempotencyKey: undefined,
  webhookId: undefined,
};
const ENDPOINT = '/webhooks/Services/WebHooks.asmx/RecordEvent';

async function sent(method: unknown, suffix: string, address = 'http://127.0.0.1/hook') {
  const headers = { host: 'a', 'content-type': 'application/json' };
  const arrival = JSON.stringify({ method, path: ENDPOINT + suffix, headers });
  return receivedMessage(
    { ...EVENT, arrival },
    new URL(address),
    { contract: await Contract.load('http://tempuri.org/') },
    'id',
  );
}

it('has none of the fields by which a target takes it for another one, and those with names of objects', async () => {
  const headers = {
    'content-type': 'application/json',
    'x-original-url': '/admin',
    'x-rewrite-url': '/admin',
    'x-http-method-override': 'DELETE',
    x_forwarded_for: '127.0.0.1',
    forwarded: 'for=127.0.0.1',
    'x-real-ip': '127.0.0.1',
    content_length: '0',
    constructor: 'c',
  };
  const names = ['content-type', 'constructor'];
  const event = { ...EVENT, arrival: JSON.stringify({ method: 'POST', path: ENDPOINT, headers }) };
  const message = receivedMessage(
    event,
    new URL('http://127.0.0.1/hook'),
    { contract: await Contract.load('http://tempuri.org/') },
    'id',
  );
  expect(Object.keys(message.headers()).sort()).toEqual(names.sort());
  expect(message.headers().constructor).toBe('c');
});

describe('a request that is sent as it arrived', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'has its method %s, its path below RecordEvent and its query',
    async (method) => {
      expect(await sent(method, '/orders/17%2F1?a=1')).toMatchObject({ method, path: '/hook/orders/17%2F1?a=1' });
    },
  );

  it.each(['TRACE', 'CONNECT', 'GET / HTTP/1.1\r\nHost: b', 7, undefined])(
    'is a POST if its method is %j',
    async (method) => {
      expect(await sent(method, '')).toMatchObject({ method: 'POST', path: '/hook' });
    },
  );

  it.each(['/', '/a/', '/a..b/.c', '/a%2Fb', '/%25', '/a%20b', '/a:b', '/a;b=1/c'])(
    'keeps the path %s',
    async (suffix) => {
      expect(await sent('PUT', suffix)).toMatchObject({ path: `/hook${suffix}` });
    },
  );

  it.each([
    ...['/..', '/../admin', '/a/../../admin', '/.', '/a/./b', '//evil.example/a', '/a//b', '/http://evil.example'],
    ...[
      '/%2e%2e/admin',
      '/%2E./admin',
      '/..%2fadmin',
      '/%2f%2fevil.example',
      '/%2fevil.example',
      '/a%2f..%2f..%2fadmin',
    ],
    ...[
      '/%252e%252e/admin',
      '/%25252e%25252e%25252fadmin',
      '/..\\admin',
      '/..%5cadmin',
      '/%5c%5cevil.example',
      '/..;/admin',
    ],
    ...['/..;a=b/admin', '/%c0%ae%c0%ae/admin', '/a%00', '/a%0d%0ab', `/%${'25'.repeat(9)}2e`],
  ])('leaves out the path %s, which may lead elsewhere', async (suffix) => {
    for (const address of ['http://127.0.0.1/hook', 'http://127.0.0.1/'])
      expect(await sent('PUT', suffix, address)).toMatchObject({ path: new URL(address).pathname });
  });
});

describe('the body of a request that is sent as it arrived is what came:', () => {
  const FORM = 'application/x-www-form-urlencoded';
  it.each<[string, string, string, string?]>([
    ['a string of JSON with its quotes', 'application/json', '"hello \\u00e9"'],
    ['a text of another type', 'text/plain', '"hello"'],
    ['what is no JSON under its type', 'application/json', 'hello'],
    ['a form whose JSON would be as long', FORM, 'a=%221%22&b=2'],
    ['a form whose names are digits', FORM, 'b=1&2=x&1=y'],
    ['JSON under the type of a form', FORM, '{"a":"1"}'],
    ['a form that says what the query says', FORM, 'a=1', '?a=1'],
    ['JSON that says what the query says', 'application/json', '{"a":"1"}', '?a=1'],
    ['nothing beside a query', FORM, '', '?a=1'],
    [
      'a form with files whose names are digits',
      'multipart/form-data; boundary=x',
      ['b', '1'].map((name) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`).join('') +
        '--x--\r\n',
    ],
  ])('%s', async (_what, type, body, query = '') => {
    const service = await startService();
    const question: Question = { method: 'POST', headers: { 'Content-Type': type }, body };
    expect((await send(`${service.url}/RecordEvent${query}`, question)).status).toBe(200);
    const [event = EVENT] = await service.log.scan({ after: 0, limit: 1 });
    await service.stop();
    const form = { contract: await Contract.load('http://tempuri.org/') };
    const message = receivedMessage(event, new URL('http://127.0.0.1/hook'), form, 'id');
    expect(message.body?.toString() ?? '').toBe(body);
  });
});

it('is signed under an id that receivers accept: not under one with a full stop', async () => {
  const sender = Sender.named('Standard Webhooks');
  const secret = `whsec_${Buffer.from('a-secret-of-24-bytes-xyz').toString('base64')}`;
  const form = { contract: await Contract.load('http://tempuri.org/'), sign: sender && signerOf(sender, secret) };
  const idOf = (given: string): string | undefined => {
    const headers = { host: 'a', 'content-type': 'application/json', 'webhook-id': given };
    const event = { ...EVENT, arrival: JSON.stringify({ method: 'POST', path: ENDPOINT, headers }) };
    return receivedMessage(event, new URL('http://127.0.0.1/hook'), form, 'own').headers()['webhook-id'];
  };
  expect([idOf('msg_1'), idOf('a.1'), idOf('')]).toEqual(['msg_1', 'own', 'own']);
});
