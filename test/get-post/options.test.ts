import { send, type Answer } from '../support/http';
import { startService, useService, type TestService } from '../support/service';

const PATHS = ['/RecordEvent', '/GetEvents', '/HelloWorld'];

describe('OPTIONS', () => {
  const options = (service: TestService, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    send(service.url + path, { method: 'OPTIONS', headers });

  describe('without a setting', () => {
    const service = useService();

    it.each(PATHS)('on %s answers 204 and names the methods', async (path) => {
      const { status, headers, body } = await options(service, path);
      expect([status, headers.allow, body]).toEqual([204, 'GET, OPTIONS, POST', '']);
      expect(headers['content-length']).toBeUndefined();
      expect(headers['x-request-id']).toBeDefined();
      const refused = await send(service.url + path, { method: 'DELETE' });
      expect([refused.status, refused.headers.allow]).toEqual([405, headers.allow]);
      const head = await send(service.url + path, { method: 'HEAD' });
      expect([head.status, head.headers.allow, head.body]).toEqual([405, headers.allow, '']);
    });

    it('on the endpoint answers 204 and names the methods', async () => {
      for (const query of ['', '?WSDL', '?op=HelloWorld']) {
        const { status, headers, body } = await options(service, query);
        expect([status, headers.allow, body]).toEqual([204, 'GET, HEAD, OPTIONS, POST', '']);
      }
      const refused = await send(service.url, { method: 'DELETE' });
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
    });
  });

  describe('as the validation handshake of a webhook sender', () => {
    it.each([
      ['sender.example.com', 'sender.example.com'],
      ['a.example.com, sender.example.com', 'sender.example.com'],
      ['a.example.com,Sender.Example.COM', 'SENDER.example.com'],
      ['*', 'sender.example.com'],
    ])('is granted where WEBHOOK_ORIGINS=%s to %s', async (origins, origin) => {
      const service = await startService({ WEBHOOK_ORIGINS: origins });
      const { status, headers, body } = await options(service, '/RecordEvent', {
        'WebHook-Request-Origin': origin,
        'WebHook-Request-Rate': '120',
        'WebHook-Request-Callback': 'http://127.0.0.1:1/confirm',
      });
      expect([status, body]).toEqual([204, '']);
      expect(headers).toMatchObject({
        allow: 'GET, OPTIONS, POST',
        'webhook-allowed-origin': origin,
        'webhook-allowed-rate': '*',
      });
    });

    it('is not granted to other origins, nor on other operations', async () => {
      const service = await startService({ WEBHOOK_ORIGINS: 'sender.example.com,eventgrid.azure.net' });
      for (const origin of ['', 'example.com', 'xsender.example.com', 'sender.example.com.evil.example', '*', 'null']) {
        const { status, headers } = await options(service, '/RecordEvent', { 'WebHook-Request-Origin': origin });
        expect(status).toBe(405);
        expect(headers['webhook-allowed-origin']).toBeUndefined();
      }
      for (const path of ['/GetEvents', '/Nope', '']) {
        const { headers } = await options(service, path, { 'WebHook-Request-Origin': 'sender.example.com' });
        expect(headers['webhook-allowed-origin']).toBeUndefined();
      }
      const { status } = await options(service, '/RecordEvent');
      expect(status).toBe(204);
    });

    it.each([
      ['600/1m', '600'],
      ['5/1s', '300'],
      ['10/1h', '1'],
    ])('tells a rate within RATE_LIMIT=%s: %s a minute', async (limit, rate) => {
      const service = await startService({ WEBHOOK_ORIGINS: '*', RATE_LIMIT: limit });
      const { headers } = await options(service, '/RecordEvent', { 'WebHook-Request-Origin': 'a.example' });
      expect(headers['webhook-allowed-rate']).toBe(rate);
    });

    it('needs no key', async () => {
      const service = await startService({ WEBHOOK_ORIGINS: '*', RECORD_KEYS: 'k'.repeat(20) });
      const { status } = await options(service, '/RecordEvent', { 'WebHook-Request-Origin': 'a.example' });
      expect(status).toBe(204);
    });
  });
});
