import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Proxies } from '../../src/http/proxies';

type Connection = Partial<Socket & { encrypted: boolean }>;
type Headers = Record<string, string>;
type Trust = number | string[];

const requestWith = (headers: Headers, connection: Connection = {}) =>
  Object.assign(new IncomingMessage({ remoteAddress: '127.0.0.1', ...connection } as Socket), { headers });

/** The proxies write the fields that a request has; of both, X-Forwarded. */
const proxiesOf = (trustProxy: Trust, headers: Headers, baseUrl?: string) =>
  new Proxies({
    baseUrl,
    trustProxy,
    forwardedHeader:
      headers.forwarded !== undefined && !Object.keys(headers).some((name) => name.startsWith('x-forwarded-'))
        ? 'forwarded'
        : 'x-forwarded',
  });
const addressOf = (trustProxy: Trust, headers: Headers, connection?: Connection) =>
  proxiesOf(trustProxy, headers).address(requestWith(headers, connection));
const baseOf = (trustProxy: Trust, headers: Headers, connection?: Connection, baseUrl?: string) =>
  proxiesOf(trustProxy, headers, baseUrl).baseUrl(requestWith(headers, connection));

describe('the address of a caller', () => {
  const NETWORKS = ['loopback', '10.0.0.0/8'];

  it.each<[what: string, Trust, string, string]>([
    ['the connection, where nobody is trusted', 0, '198.51.100.7, 192.0.2.1, 10.0.0.1', '127.0.0.1'],
    ['what the only trusted proxy tells', 1, '198.51.100.7, 192.0.2.1, 10.0.0.1', '10.0.0.1'],
    ['what the second of two trusted proxies tells', NETWORKS, '198.51.100.7, 192.0.2.1, 10.0.0.1', '192.0.2.1'],
    ['the first of all, where everybody is trusted', 9, '198.51.100.7, 192.0.2.1, 10.0.0.1', '198.51.100.7'],
    ['without a port', 1, '198.51.100.7:1, 192.0.2.1:4711', '192.0.2.1'],
    ['without brackets and port', 1, '[2001:db8::1]:4711', '2001:db8::1'],
    ['without quotes', 1, '"[2001:db8::1]:80"', '2001:db8::1'],
    ['in its canonical text', 1, '2001:DB8:0:0::1', '2001:db8::1'],
    ['that of IPv4 where it is mapped to IPv6', 1, '::ffff:192.0.2.1', '192.0.2.1'],
    ['what is no address, as it is', 1, '[::1]x', '[::1]x'],
    ['what is no address and port, as it is', 1, '192.0.2.1:8x', '192.0.2.1:8x'],
  ])('is %s', (_what, trustProxy, forwarded, address) => {
    expect(addressOf(trustProxy, { 'x-forwarded-for': forwarded })).toBe(address);
  });

  it.each<[string, Trust, string]>([
    ['for="[2001:db8::1]:4711"', 1, '2001:db8::1'],
    ['for="192.0.2.1:80"', 1, '192.0.2.1'],
    ['for=unknown', 1, 'unknown'],
    ['proto=https', 1, ''],
    ['for=192.0.2.9, for=192.0.2.1, for=10.0.0.1', NETWORKS, '192.0.2.1'],
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

  it('is read from the fields that the proxies write, whatever a caller invents in the others', () => {
    const request = requestWith({ forwarded: 'for=192.0.2.1', 'x-forwarded-for': '198.51.100.7' });
    const addressBy = (forwardedHeader: 'forwarded' | 'x-forwarded') =>
      new Proxies({ baseUrl: undefined, trustProxy: 1, forwardedHeader }).address(request);
    expect([addressBy('x-forwarded'), addressBy('forwarded')]).toEqual(['198.51.100.7', '192.0.2.1']);
  });

  it('is the connection where that is not trusted, or proxies state none; unknown once the caller has gone', () => {
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(addressOf(['loopback'], headers, { remoteAddress: '203.0.113.1' })).toBe('203.0.113.1');
    expect([addressOf(9, {}), addressOf(9, { 'x-forwarded-host': 'h' })]).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(addressOf(1, headers, { remoteAddress: undefined })).toBeUndefined();
  });
});

describe('the base URL', () => {
  it.each<[Headers, Connection, string]>([
    [{ host: 'Example.COM:80' }, {}, 'http://example.com'],
    [{ host: 'example.com' }, { encrypted: true }, 'https://example.com'],
    [{ host: '[2001:DB8::1]:8080' }, {}, 'http://[2001:db8::1]:8080'],
    [{ host: 'web_hook:' }, {}, 'http://web_hook'],
    [{}, { localAddress: '::1', localPort: 8080 }, 'http://[::1]:8080'],
    [{}, { encrypted: true }, 'https://localhost:80'],
  ])('is that of the request: %j over %j', (headers, connection, base) => {
    expect([baseOf(0, headers, connection), baseOf(1, headers, connection)]).toEqual([base, base]);
  });

  it('is the one that is set, whatever the request says', () => {
    expect(baseOf(1, { host: '<', 'x-forwarded-proto': 'x' }, {}, 'https://set/x')).toBe('https://set/x');
  });

  const FORWARDED = {
    host: 'inner',
    'x-forwarded-host': 'outer',
    'x-forwarded-proto': 'https',
    'x-forwarded-prefix': '/p',
    'x-forwarded-port': '8443',
  };

  it('follows trusted proxies alone', () => {
    for (const trusted of [1, ['loopback']]) expect(baseOf(trusted, FORWARDED)).toBe('https://outer:8443/p');
    for (const trusted of [0, ['192.0.2.0/24']])
      expect(baseOf(trusted, { ...FORWARDED, forwarded: 'host=evil' })).toBe('http://inner');
    expect(baseOf(['loopback'], FORWARDED, { remoteAddress: undefined })).toBe('http://inner');
  });

  it.each<[Headers, string]>([
    [{ 'x-forwarded-proto': 'HTTPS' }, 'https://inner'],
    [{ 'x-forwarded-port': '8081' }, 'http://inner:8081'],
    [{ 'x-forwarded-host': 'outer:81', 'x-forwarded-port': '82' }, 'http://outer:81'],
    [{ 'x-forwarded-host': 'outer:', 'x-forwarded-port': '82' }, 'http://outer:82'],
    [{ 'x-forwarded-host': '[::1]:81', 'x-forwarded-port': '82' }, 'http://[::1]:81'],
    [{ 'x-forwarded-host': '[::1]', 'x-forwarded-port': '82' }, 'http://[::1]:82'],
    [{ 'x-forwarded-prefix': '/a/b//' }, 'http://inner/a/b'],
    [{ 'x-forwarded-prefix': "/.a/..b/c../-_~!$&'()*+;=:@%20" }, "http://inner/.a/..b/c../-_~!$&'()*+;=:@%20"],
    [{ forwarded: 'for=1;host="outer:81";proto=https' }, 'https://outer:81'],
    [{ forwarded: 'host=evil;proto=https', 'x-forwarded-for': '192.0.2.1' }, 'http://inner'],
  ])('follows a trusted proxy: %j', (headers, base) => {
    expect(baseOf(1, { host: 'inner', ...headers })).toBe(base);
  });

  it.each<[Headers, string]>([
    [{ 'x-forwarded-proto': 'javascript' }, 'scheme is neither http nor https'],
    [{ 'x-forwarded-host': 'a"><b' }, 'host is not a valid authority'],
    [{ 'x-forwarded-host': 'a'.repeat(256) }, 'host is not a valid authority'],
    [{ 'x-forwarded-port': '65536' }, 'host is not a valid authority'],
    ...['80x', '123456'].map((port): [Headers, string] => [{ 'x-forwarded-port': port }, 'port is not a number']),
    ...['x/a', '/a"b', '//evil', '/a/../b', '/a/.'].map((prefix): [Headers, string] => [
      { 'x-forwarded-prefix': prefix },
      'prefix is not a valid path',
    ]),
  ])('is refused where a trusted proxy sends %j', (headers, problem) => {
    const refusal = expect.objectContaining({ status: 400, message: `The forwarded ${problem}.` }) as Error;
    expect(() => baseOf(1, { host: 'inner', ...headers })).toThrow(refusal);
  });

  it.each<[Trust, string]>([
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
    expect([proxiesOf(0, {}).vary, proxiesOf(1, { forwarded: '' }).vary, proxiesOf(['loopback'], {}).vary]).toEqual([
      'Host',
      'Host, Forwarded',
      'Host, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto',
    ]);
  });
});

it.each([
  ...['for', 'proto', 'host', 'port', 'prefix'].map((name) => [`x-forwarded-${name}`, 2, 0] as const),
  ['forwarded', 2, 2] as const,
  ['x-forwarded-server', 0, 0] as const,
])('where forwarded fields do not count, the operator is told of %s', (name, untrusted, trusted) => {
  const hints = ([0, 1] as const).map((trustProxy) => {
    const hint = jest.fn();
    const proxies = new Proxies({ baseUrl: 'http://set', trustProxy }, hint);
    proxies.address(requestWith({ [name]: 'x' }));
    proxies.baseUrl(requestWith({ [name]: 'x' }));
    return hint.mock.calls.length;
  });
  expect(hints).toEqual([untrusted, trusted]);
});

it.each([
  ['0.0.0.0', '127.0.0.1:80'],
  ['::', '[::1]:80'],
  ['192.0.2.1', '192.0.2.1:80'],
  ['2001:db8::1', '[2001:db8::1]:80'],
])('this machine reaches a server that listens on %s at %s', (host, expected) => {
  expect(Proxies.localAuthority(host, 80)).toBe(expected);
});
