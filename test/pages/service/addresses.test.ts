import { requestOf } from '../../support/bindings';
import { send, type Answer } from '../../support/http';
import { startService, type TestService } from '../../support/service';

const PATH = '/webhooks/Services/WebHooks.asmx';

/** The one address that all four ports of a WSDL name. */
function addressIn({ body }: Answer): string {
  const addresses = [...body.matchAll(/:address location="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses).toHaveLength(4);
  expect(new Set(addresses).size).toBe(1);
  return addresses[0] ?? '';
}

describe('the address in the WSDL', () => {
  const services = new Map<string, Promise<TestService>>();
  /** The service with these settings: one for all tests. */
  const serviceWith = (variables: Record<string, string>): Promise<TestService> => {
    const key = JSON.stringify(variables);
    const service = services.get(key) ?? startService(variables);
    services.set(key, service);
    return service;
  };
  const wsdl = async (variables: Record<string, string>, headers: Record<string, string>): Promise<Answer> =>
    send(`${(await serviceWith(variables)).url}?WSDL`, { headers });
  afterAll(() => Promise.all([...services.values()].map(async (service) => (await service).stop())));

  it.each([
    ['example.com', `http://example.com${PATH}`],
    ['Example.COM:8080', `http://example.com:8080${PATH}`],
    ['[::1]:8080', `http://[::1]:8080${PATH}`],
    ['my_service:81', `http://my_service:81${PATH}`],
  ])('is the one that the request used: Host: %s', async (host, address) => {
    expect(addressIn(await wsdl({}, { Host: host }))).toBe(address);
  });

  it('is BASE_URL if that is set, whatever the request says', async () => {
    const variables = { BASE_URL: 'https://hooks.example.com/outer/', TRUST_PROXY: '1' };
    const answer = await wsdl(variables, { Host: 'x', 'X-Forwarded-Host': 'y' });
    expect(addressIn(answer)).toBe(`https://hooks.example.com/outer${PATH}`);
  });

  it('does not depend on forwarded fields by default', async () => {
    const headers = {
      Host: 'inner',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Prefix': '/evil',
      Forwarded: 'host=evil.example',
    };
    expect(addressIn(await wsdl({}, headers))).toBe(`http://inner${PATH}`);
    expect(addressIn(await wsdl({ TRUST_PROXY: '192.0.2.0/24' }, headers))).toBe(`http://inner${PATH}`);
  });

  it.each<[string, Record<string, string>, string]>([
    ['scheme', { 'X-Forwarded-Proto': 'https' }, 'https://inner'],
    ['host', { 'X-Forwarded-Host': 'outer.example:8443', 'X-Forwarded-Proto': 'https' }, 'https://outer.example:8443'],
    ['port', { 'X-Forwarded-Host': 'outer.example', 'X-Forwarded-Port': '8081' }, 'http://outer.example:8081'],
    ['default port', { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Port': '443' }, 'https://inner'],
    ['prefix', { 'X-Forwarded-Prefix': '/a/b/' }, 'http://inner/a/b'],
    ['IPv6 host', { 'X-Forwarded-Host': '[2001:db8::2]' }, 'http://[2001:db8::2]'],
    ['Forwarded', { Forwarded: 'for=192.0.2.1;host="outer.example:8443";proto=https' }, 'https://outer.example:8443'],
    ['a Forwarded that cannot be read', { Forwarded: 'host=' }, 'http://inner'],
    ['both, of which it writes one', { Forwarded: 'host=evil', 'X-Forwarded-Host': 'outer' }, 'http://outer'],
  ])('follows a trusted proxy: %s', async (what, headers, base) => {
    const FORWARDED_HEADER = /Forwarded/.test(what) ? 'forwarded' : 'x-forwarded';
    for (const TRUST_PROXY of ['loopback', '1'])
      expect(addressIn(await wsdl({ TRUST_PROXY, FORWARDED_HEADER }, { Host: 'inner', ...headers }))).toBe(base + PATH);
  });

  it.each([
    ['1', 'near.example', 'http'],
    ['2', 'far.example', 'https'],
    ['3', 'invented.example', 'http'],
    ['loopback,10.0.0.0/8', 'far.example', 'https'],
  ])(
    'takes from lists what the outermost of the proxies that TRUST_PROXY=%s trusts wrote',
    async (trust, host, scheme) => {
      const custom = {
        'X-Forwarded-For': '192.0.2.9, 192.0.2.1, 10.0.0.1',
        'X-Forwarded-Host': 'invented.example, far.example, near.example',
        'X-Forwarded-Proto': 'http, https, http',
      };
      const standard = {
        Forwarded:
          'for=192.0.2.9;host=invented.example;proto=http, for="192.0.2.1:4711";host=far.example;proto=https, for=10.0.0.1;host=near.example;proto=http',
      };
      for (const [name, headers] of Object.entries({ 'x-forwarded': custom, forwarded: standard })) {
        const settings = { TRUST_PROXY: trust, FORWARDED_HEADER: name };
        expect(addressIn(await wsdl(settings, { Host: 'inner', ...headers }))).toBe(`${scheme}://${host}${PATH}`);
      }
    },
  );

  it.each<[string, Record<string, string>]>([
    ['a scheme', { 'X-Forwarded-Proto': 'javascript' }],
    ['a host', { 'X-Forwarded-Host': 'a"><b' }],
    ['a port', { 'X-Forwarded-Port': '80"' }],
    ['a port out of range', { 'X-Forwarded-Port': '65536' }],
    ['a prefix that leads out', { 'X-Forwarded-Prefix': '/a/../b' }],
    ['a prefix that names a host', { 'X-Forwarded-Prefix': '//evil.example' }],
  ])('answers 400 if a trusted proxy sends %s that is not valid', async (_what, headers) => {
    const answer = await wsdl({ TRUST_PROXY: '1' }, { Host: 'inner', ...headers });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body).not.toMatch(/evil|javascript|<b|"/);
  });

  it('answers the same over SOAP with a Client fault, if the reply needs the address', async () => {
    const service = await serviceWith({ TRUST_PROXY: '1' });
    const { path, ...question } = requestOf('soap11', 'GetEvents');
    const headers = { ...question.headers, 'X-Forwarded-Proto': 'javascript' };
    const answer = await send(service.url + path, { ...question, headers });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('<faultcode>soap:Client</faultcode><faultstring>The forwarded scheme is neither');
  });

  it.each(['evil"><x', 'a b', 'a/b', 'user@host', '[1:2]', 'host:99999', 'é'])(
    'answers 400 to Host: %s without echoing it',
    async (host) => {
      const answer = await wsdl({}, { Host: host });
      expect(answer.status).toBe(400);
      expect(answer.body).toBe('The Host header is not a valid authority.\n');
      expect(JSON.stringify(answer.headers)).not.toContain(host);
    },
  );

  it('is distinguished by caches through Vary', async () => {
    const one = await wsdl({ TRUST_PROXY: '1' }, { Host: 'one' });
    expect(one.headers.vary).toBe('Host, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto');
  });
});
