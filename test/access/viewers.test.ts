import { send, type Answer } from '../support/http';
import { startService, useService, type TestService } from '../support/service';

const KEY = 'a-key-to-read-with';
const basic = (password: string): string => `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}`;

const guarded = useService({ READ_KEYS: KEY });
const open = useService({ ALLOWED_HOSTS: 'allowed.example' });

const events = ({ url }: TestService, headers: Record<string, string> = {}, query = '?events'): Promise<Answer> =>
  send(url.replace('0.0.0.0', '127.0.0.1') + query, { headers });

describe('with READ_KEYS the pages of the events', () => {
  it.each(['?events', '?events=rate', '?events=refusals', '?event=1', '?event=1&download=data'])(
    '%s ask a browser for a password',
    async (query) => {
      const { status, headers, body } = await events(guarded, {}, query);
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
    expect((await events(guarded, headers)).status).toBe(expected);
  });
});

describe('without READ_KEYS the pages of the events', () => {
  it.each<[string, Record<string, string>]>([
    ['HOST is not loopback', { HOST: '0.0.0.0' }],
    ['there is a proxy', { TRUST_PROXY: '1' }],
    ['there is a public address', { BASE_URL: 'https://hooks.example.com' }],
    ['a key guards recording alone', { HOST: '0.0.0.0', RECORD_KEYS: 'a-key-to-record-with' }],
  ])('are closed where %s, and say what to set', async (_what, variables) => {
    const { status, body, headers } = await events(await startService(variables));
    expect(status).toBe(403);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('set READ_KEYS, and open this page with one of its keys');
  });

  const NO_LOOPBACK = 'This request did not come to a loopback address.';
  const PROXY = 'A proxy has sent this request on.';
  const LINK = 'A link on another site led here';
  it.each<[Record<string, string>, string]>([
    // Names that lead here, and addresses for which browsers do not say where a page is from.
    ...['attacker.example:8080', '[::ffff:127.0.0.1]:80', '0.0.0.0:8080', '192.0.2.1'].map(
      (Host): [Record<string, string>, string] => [{ Host }, NO_LOOPBACK],
    ),
    [{ 'X-Forwarded-For': '203.0.113.7' }, PROXY],
    [{ Forwarded: 'for=203.0.113.7' }, PROXY],
    [{ Via: '1.1 a' }, PROXY],
    ...['X-Real-IP', 'X-Client-IP', 'X-Forwarded-Server', 'X-Forwarded-By', 'True-Client-IP', 'CF-Connecting-IP'].map(
      (field): [Record<string, string>, string] => [{ [field]: '203.0.113.7' }, PROXY],
    ),
    [{ 'Sec-Fetch-Site': 'cross-site' }, LINK],
    [{ Origin: 'http://evil.example' }, LINK],
  ])('are closed to %j, and say so', async (headers, reason) => {
    const { status, body } = await events(open, headers);
    expect([status, body]).toEqual([403, expect.stringContaining(reason)]);
  });

  it.each(['127.0.0.1:8080', '[::1]:8080', 'LOCALHOST', 'webhook.localhost:80', 'allowed.example:80'])(
    'are open at %s',
    async (Host) => {
      expect((await events(open, { Host })).status).toBe(200);
    },
  );
});
