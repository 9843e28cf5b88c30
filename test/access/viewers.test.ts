import { send, type Answer } from '../support/http';
import { startService } from '../support/service';

const KEY = 'a-key-to-read-with';
const basic = (password: string): string => `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}`;

describe('with READ_KEYS the pages of the events', () => {
  const open = async (headers: Record<string, string>, query = '?events'): Promise<Answer> => {
    const service = await startService({ READ_KEYS: KEY });
    const answer = await send(service.url + query, { headers });
    await service.stop();
    return answer;
  };

  it.each(['?events', '?events=rate', '?events=refusals', '?event=1', '?event=1&download=data'])(
    '%s ask a browser for a password',
    async (query) => {
      const { status, headers, body } = await open({}, query);
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toMatch(/^Basic realm="WebHook", charset="UTF-8"/);
      expect(body).toContain('one of the <code>READ_KEYS</code> as the password');
    },
  );

  it.each<[string, Record<string, string>, number]>([
    ['the key as a password', { Authorization: basic(KEY) }, 200],
    ['the key in X-API-Key', { 'X-API-Key': KEY }, 200],
    ['another password', { Authorization: basic('guess') }, 401],
    ['the key, from a page of another site', { Authorization: basic(KEY), 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['the key, typed in', { Authorization: basic(KEY), 'Sec-Fetch-Site': 'none' }, 200],
  ])('with %s', async (_what, headers, expected) => {
    expect((await open(headers)).status).toBe(expected);
  });

  it('show who was refused', async () => {
    const { url } = await startService({ READ_KEYS: KEY });
    await send(`${url}?events`, { headers: { 'X-API-Key': 'guess' } });
    const { body } = await send(`${url}?events=refusals`, { headers: { 'X-API-Key': KEY } });
    expect(body).toContain('This key may not read events.');
    expect(body).not.toContain('guess');
  });
});

describe('without READ_KEYS the pages of the events', () => {
  it.each<[string, Record<string, string>]>([
    ['HOST is not loopback', { HOST: '0.0.0.0' }],
    ['there is a proxy', { TRUST_PROXY: '1' }],
    ['there is a public address', { BASE_URL: 'https://hooks.example.com' }],
    ['a key guards recording alone', { HOST: '0.0.0.0', RECORD_KEYS: 'a-key-to-record-with' }],
  ])('are closed where %s, and say what to set', async (_what, variables) => {
    const { url } = await startService(variables);
    const { status, body, headers } = await send(`${url}?events`.replace('0.0.0.0', '127.0.0.1'));
    expect(status).toBe(403);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('set READ_KEYS, and open this page with one of its keys');
  });

  const NO_LOOPBACK = 'This request did not come to a loopback address.';
  const PROXY = 'A proxy has sent this request on.';
  it.each<[string, Record<string, string>, string]>([
    ['a name that leads here', { Host: 'attacker.example:8080' }, NO_LOOPBACK],
    ['an address for which browsers do not say where a page is from', { Host: '[::ffff:127.0.0.1]:80' }, NO_LOOPBACK],
    ['an address that leads here', { Host: '0.0.0.0:8080' }, NO_LOOPBACK],
    ['a proxy', { 'X-Forwarded-For': '203.0.113.7' }, PROXY],
    ['a proxy', { Forwarded: 'for=203.0.113.7' }, PROXY],
    ['a page of another site', { 'Sec-Fetch-Site': 'cross-site' }, 'A link on another site led here'],
    ['a page of the same site', { 'Sec-Fetch-Site': 'same-site' }, 'A link on another site led here'],
  ])('are closed to %s (%j), and say so', async (_what, headers, reason) => {
    const { url } = await startService();
    const { status, body } = await send(`${url}?events`, { headers });
    expect([status, body]).toEqual([403, expect.stringContaining(reason)]);
  });

  it.each(['127.0.0.1:8080', '[::1]:8080', 'LOCALHOST', 'webhook.localhost:80', 'allowed.example:80'])(
    'are open at %s',
    async (Host) => {
      const { url } = await startService({ ALLOWED_HOSTS: 'allowed.example' });
      expect((await send(`${url}?events`, { headers: { Host } })).status).toBe(200);
    },
  );
});
