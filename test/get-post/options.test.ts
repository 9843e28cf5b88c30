import { send } from '../support/http';
import { startService, useService, type TestService } from '../support/service';

const ORIGIN = 'sender.example.com';

describe('OPTIONS as the validation handshake of a webhook sender', () => {
  const handshake = (url: string, origin = ORIGIN, path = '/RecordEvent') => {
    const headers = {
      'WebHook-Request-Origin': origin,
      'WebHook-Request-Rate': '120',
      'WebHook-Request-Callback': 'http://127.0.0.1:1/confirm',
    };
    return send(url + path, { method: 'OPTIONS', headers });
  };

  it.each([
    [{ WEBHOOK_ORIGINS: ORIGIN }, ORIGIN, '*'],
    [{ WEBHOOK_ORIGINS: `a.example.com, ${ORIGIN}` }, ORIGIN, '*'],
    [{ WEBHOOK_ORIGINS: 'a.example.com,Sender.Example.COM' }, 'SENDER.example.com', '*'],
    [{ WEBHOOK_ORIGINS: '*' }, ORIGIN, '*'],
    [{ WEBHOOK_ORIGINS: '*', RECORD_KEYS: 'k'.repeat(20) }, ORIGIN, '*'],
    [{ WEBHOOK_ORIGINS: '*', RATE_LIMIT: '600/1m' }, ORIGIN, '600'],
    [{ WEBHOOK_ORIGINS: '*', RATE_LIMIT: '5/7s' }, ORIGIN, '42'],
    [{ WEBHOOK_ORIGINS: '*', RATE_LIMIT: '10/1h' }, ORIGIN, '1'],
  ])('is granted with %j to %s, at a rate of %s', async (variables: Record<string, string>, origin, rate) => {
    const { status, headers, body } = await handshake((await startService(variables)).url, origin);
    expect([status, headers['content-length'], body]).toEqual([204, undefined, '']);
    expect(headers).toMatchObject({
      'x-request-id': expect.any(String) as string,
      allow: 'GET, OPTIONS, POST',
      'webhook-allowed-origin': origin,
      'webhook-allowed-rate': rate,
    });
  });

  const some = useService({ WEBHOOK_ORIGINS: `${ORIGIN},eventgrid.azure.net` });
  const all = useService({ WEBHOOK_ORIGINS: '*' });
  const foreign = ['', 'example.com', `x${ORIGIN}`, `${ORIGIN}.evil.example`, '*', 'null'];
  it.each<[origin: string, path: string, service: TestService]>([
    ...foreign.map((one): [string, string, TestService] => [one, '/RecordEvent', some]),
    ...['/GetEvents', '/Nope', ''].map((path): [string, string, TestService] => [ORIGIN, path, some]),
    ...['*', 'ä', 'x'.repeat(256)].map((one): [string, string, TestService] => [one, '/RecordEvent', all]),
  ])('is not granted to the origin %j on %j', async (origin, path, service) => {
    const { status, headers } = await handshake(service.url, origin, path);
    expect(headers['webhook-allowed-origin']).toBeUndefined();
    if (path === '/RecordEvent') expect(status).toBe(405);
  });
});
