import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Callers } from '../../src/http/callers';

type Connection = Partial<Socket & { encrypted: boolean }>;

function requestWith(headers: Record<string, string>, connection: Connection): IncomingMessage {
  const request = new IncomingMessage(connection as Socket);
  return Object.assign(request, { headers });
}

/** The proxies write the fields that a request has; of both, X-Forwarded. */
const fieldsOf = (headers: Record<string, string>) =>
  headers.forwarded !== undefined && !Object.keys(headers).some((name) => name.startsWith('x-forwarded-'))
    ? 'forwarded'
    : 'x-forwarded';

const addressOf = (trustProxy: number | string[], headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  new Callers({ baseUrl: undefined, trustProxy, forwardedHeader: fieldsOf(headers) }).address(
    requestWith(headers, { remoteAddress }),
  );

const baseOf = (
  trustProxy: number | string[],
  headers: Record<string, string>,
  connection: Connection = {},
  baseUrl?: string,
) =>
  new Callers({ baseUrl, trustProxy, forwardedHeader: fieldsOf(headers) }).baseUrl(
    requestWith(headers, { remoteAddress: '127.0.0.1', ...connection }),
  );

describe('the address of a caller', () => {
  const headers = { 'x-forwarded-for': '198.51.100.7, 192.0.2.1, 10.0.0.1' };

  it.each<[string, number | string[], string]>([
    ['the connection, where nobody is trusted', 0, '127.0.0.1'],
    ['what the only trusted proxy tells', 1, '10.0.0.1'],
    ['what the second of two trusted proxies tells', ['loopback', '10.0.0.0/8'], '192.0.2.1'],
    ['the first of all, where everybody is trusted', 9, '198.51.100.7'],
  ])('is %s', (_what, trustProxy, address) => {
    expect(addressOf(trustProxy, headers)).toBe(address);
  });

  it('is the connection where that is not from a trusted network', () => {
    expect(addressOf(['loopback'], headers, '203.0.113.1')).toBe('203.0.113.1');
  });

  it.each([
    ['for="[2001:db8::1]:4711"', '2001:db8::1'],
    ['for="192.0.2.1:80"', '192.0.2.1'],
    ['for=unknown', 'unknown'],
  ])('is read from Forwarded: %s', (forwarded, address) => {
    expect(addressOf(1, { forwarded })).toBe(address);
  });

  it.each([
    ['192.0.2.1:4711', '192.0.2.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['198.51.100.7:1, 192.0.2.1:2', '192.0.2.1'],
  ])('is read from X-Forwarded-For without a port: %s', (forwarded, address) => {
    expect(addressOf(1, { 'x-forwarded-for': forwarded })).toBe(address);
  });

  it.each([
    ['x-forwarded', '198.51.100.7'],
    ['forwarded', '192.0.2.1'],
  ] as const)(
    'is read from the fields that the proxies write (%s), whatever a caller invents in the others',
    (name, address) => {
      const both = { forwarded: 'for=192.0.2.1', 'x-forwarded-for': '198.51.100.7' };
      const callers = new Callers({ baseUrl: undefined, trustProxy: 1, forwardedHeader: name });
      expect(callers.address(requestWith(both, { remoteAddress: '127.0.0.1' }))).toBe(address);
    },
  );

  it('is unknown if a proxy states none in Forwarded', () => {
    expect(addressOf(1, { forwarded: 'proto=https' })).toBe('');
  });

  it('is unknown where the connection has none any more', () => {
    const request = requestWith({ 'x-forwarded-for': '192.0.2.1' }, { remoteAddress: undefined });
    expect(new Callers({ baseUrl: undefined, trustProxy: 1 }).address(request)).toBeUndefined();
  });

  it('is the connection where proxies state none', () => {
    expect(addressOf(9, {})).toBe('127.0.0.1');
    expect(addressOf(9, { 'x-forwarded-host': 'h' })).toBe('127.0.0.1');
  });

  it.each([
    ['for=192.0.2.9, for=192.0.2.1, for=10.0.0.1', ['loopback', '10.0.0.0/8'], '192.0.2.1'],
    ['for=192.0.2.9, for=192.0.2.1', 2, '192.0.2.9'],
    // What a caller sends before the proxy's element must not hide that.
    ['for=", for=192.0.2.1', 1, '192.0.2.1'],
    ['for="a, for=192.0.2.1', 1, '192.0.2.1'],
    ['for=192.0.2.9;, for="192.0.2.1"', 1, '192.0.2.1'],
    ['for=192.0.2.9;=, for=192.0.2.1', 2, '192.0.2.1'],
    ['for="\\", for=192.0.2.1;host="a,b"', 1, '192.0.2.1'],
    ['for="', 1, '127.0.0.1'],
  ])('is what the outermost trusted proxy tells in Forwarded: %s', (forwarded, trustProxy, address) => {
    expect(addressOf(trustProxy, { forwarded })).toBe(address);
  });

  it.each([
    ['[::1]x', '[::1]x'],
    ['"[2001:db8::1]:80"', '2001:db8::1'],
    ['192.0.2.1:8x', '192.0.2.1:8x'],
  ])('keeps what is not an address and a port: %s', (forwarded, address) => {
    expect(addressOf(1, { 'x-forwarded-for': forwarded })).toBe(address);
  });
});

const BAD_SCHEME = 'The forwarded scheme is neither http nor https.';
const BAD_HOST = 'The forwarded host is not a valid authority.';
const BAD_PORT = 'The forwarded port is not a number.';
const BAD_PREFIX = 'The forwarded prefix is not a valid path.';

describe('the base URL', () => {
  it.each<[Record<string, string>, Connection, string]>([
    [{ host: 'Example.COM:80' }, {}, 'http://example.com'],
    [{ host: 'example.com' }, { encrypted: true }, 'https://example.com'],
    [{ host: '[2001:DB8::1]:8080' }, {}, 'http://[2001:db8::1]:8080'],
    [{}, { localAddress: '::1', localPort: 8080 }, 'http://[::1]:8080'],
    [{}, { encrypted: true }, 'https://localhost:80'],
  ])('is that of the request: %j over %j', (headers, connection, base) => {
    expect(baseOf(0, headers, connection)).toBe(base);
    expect(baseOf(1, headers, connection)).toBe(base);
  });

  it('is the one that is set, whatever the request says', () => {
    expect(baseOf(1, { host: '<', 'x-forwarded-proto': 'x' }, {}, 'https://set/x')).toBe('https://set/x');
  });

  const forwarded = {
    'x-forwarded-host': 'outer',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/p',
    'x-forwarded-port': '8443',
  };

  it('follows trusted proxies alone', () => {
    expect(baseOf(1, { host: 'inner', ...forwarded })).toBe('https://outer:8443/p');
    expect(baseOf(['loopback'], { host: 'inner', ...forwarded })).toBe('https://outer:8443/p');
    for (const trustProxy of [0, ['192.0.2.0/24']]) {
      expect(baseOf(trustProxy, { host: 'inner', ...forwarded, forwarded: 'host=evil' })).toBe('http://inner');
    }
    expect(baseOf(['loopback'], { host: 'inner', ...forwarded }, { remoteAddress: undefined })).toBe('http://inner');
  });

  it.each<[Record<string, string>, string]>([
    [{ 'x-forwarded-proto': 'HTTPS' }, 'https://inner'],
    [{ 'x-forwarded-port': '8081' }, 'http://inner:8081'],
    [{ 'x-forwarded-host': 'outer:81', 'x-forwarded-port': '82' }, 'http://outer:81'],
    [{ 'x-forwarded-host': 'outer:', 'x-forwarded-port': '82' }, 'http://outer:82'],
    [{ 'x-forwarded-host': '[::1]:81', 'x-forwarded-port': '82' }, 'http://[::1]:81'],
    [{ 'x-forwarded-prefix': '/a/b//' }, 'http://inner/a/b'],
    [{ 'x-forwarded-prefix': "/.a/..b/c../-_~!$&'()*+;=:@%20" }, "http://inner/.a/..b/c../-_~!$&'()*+;=:@%20"],
    [{ forwarded: 'for=1;host="outer:81";proto=https' }, 'https://outer:81'],
    [{ forwarded: 'host=evil;proto=https', 'x-forwarded-for': '192.0.2.1' }, 'http://inner'],
  ])('follows a trusted proxy: %j', (headers, base) => {
    expect(baseOf(1, { host: 'inner', ...headers })).toBe(base);
  });

  it.each<[Record<string, string>, string]>([
    [{ 'x-forwarded-proto': 'javascript' }, BAD_SCHEME],
    [{ 'x-forwarded-host': 'a"><b' }, BAD_HOST],
    [{ 'x-forwarded-port': '80x' }, BAD_PORT],
    [{ 'x-forwarded-port': '123456' }, BAD_PORT],
    [{ 'x-forwarded-port': '65536' }, BAD_HOST],
    [{ 'x-forwarded-prefix': 'x/a' }, BAD_PREFIX],
    [{ 'x-forwarded-prefix': '/a"b' }, BAD_PREFIX],
    [{ 'x-forwarded-prefix': '//evil' }, BAD_PREFIX],
    [{ 'x-forwarded-prefix': '/a/../b' }, BAD_PREFIX],
    [{ 'x-forwarded-prefix': '/a/.' }, BAD_PREFIX],
  ])('is refused where a trusted proxy sends %j', (headers, message) => {
    const refusal = expect.objectContaining({ status: 400, message }) as Error;
    expect(() => baseOf(1, { host: 'inner', ...headers })).toThrow(refusal);
  });

  it.each<[number | string[], string]>([
    [1, 'http://near/3'],
    [2, 'https://far/2'],
    [3, 'http://invented/1'],
    [9, 'http://invented/1'],
    [['loopback', '10.0.0.0/8'], 'https://far/2'],
    [['loopback'], 'http://near/3'],
  ])('is what the outermost of the proxies that %j trusts wrote', (trustProxy, base) => {
    const custom = {
      'x-forwarded-for': '192.0.2.9, 192.0.2.1, 10.0.0.1',
      'x-forwarded-host': 'invented, far, near',
      'x-forwarded-proto': 'http,https,http',
      'x-forwarded-prefix': '/1, /2, /3',
    };
    expect(baseOf(trustProxy, { host: 'inner', ...custom })).toBe(base);
    const standard =
      'for=192.0.2.9;host=invented;proto=http, for="192.0.2.1:4711";host=far;proto=https, for=10.0.0.1;host=near;proto=http';
    expect(baseOf(trustProxy, { host: 'inner', forwarded: standard })).toBe(base.replace(/\/\d$/, ''));
  });

  it('takes the first of a list that is shorter than the row of proxies', () => {
    const headers = { host: 'inner', 'x-forwarded-for': '192.0.2.9, 192.0.2.1, 10.0.0.1', 'x-forwarded-host': 'a, b' };
    expect(baseOf(3, headers)).toBe('http://a');
  });

  it('depends on the forwarded fields where proxies are trusted', () => {
    const varyOf = (trustProxy: number | string[], forwardedHeader: 'forwarded' | 'x-forwarded') =>
      new Callers({ baseUrl: undefined, trustProxy, forwardedHeader }).vary;
    expect([varyOf(0, 'x-forwarded'), varyOf(1, 'forwarded'), varyOf(['loopback'], 'x-forwarded')]).toEqual([
      'Host',
      'Host, Forwarded',
      'Host, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto',
    ]);
  });
});

describe('forwarded fields', () => {
  const ignored = (trustProxy: number | string[], headers: Record<string, string>): number => {
    let count = 0;
    const callers = new Callers({ baseUrl: 'http://set', trustProxy }, () => count++);
    callers.address(requestWith(headers, { remoteAddress: '127.0.0.1' }));
    callers.baseUrl(requestWith(headers, { remoteAddress: '127.0.0.1' }));
    return count;
  };

  it.each(['forwarded', ...['for', 'proto', 'host', 'port', 'prefix'].map((name) => `x-forwarded-${name}`)])(
    'that do not count are told of: %s',
    (name) => {
      expect(ignored(0, { [name]: 'x' })).toBe(2);
      expect(ignored(1, { [name]: 'x' })).toBe(name === 'forwarded' ? 2 : 0);
    },
  );

  it('that do not exist are not told of', () => {
    expect(ignored(0, { host: 'x', 'x-forwarded-server': 'x' })).toBe(0);
  });
});

it.each([
  ['0.0.0.0', '127.0.0.1:80'],
  ['::', '[::1]:80'],
  ['192.0.2.1', '192.0.2.1:80'],
  ['2001:db8::1', '[2001:db8::1]:80'],
])('this machine reaches a server that listens on %s at %s', (host, expected) => {
  expect(Callers.localAuthority(host, 80)).toBe(expected);
});
