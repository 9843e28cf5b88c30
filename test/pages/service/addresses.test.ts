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
    ['host', { 'X-Forwarded-Host': 'outer.example:8443', 'X-Forwarded-Proto': 'https' }, 'https://outer.example:8443'],
    ['prefix', { 'X-Forwarded-Prefix': '/a/b/' }, 'http://inner/a/b'],
    ['Forwarded', { Forwarded: 'for=192.0.2.1;host="outer.example:8443";proto=https' }, 'https://outer.example:8443'],
    ['a Forwarded that cannot be read', { Forwarded: 'host=' }, 'http://inner'],
    ['both, of which it writes one', { Forwarded: 'host=evil', 'X-Forwarded-Host': 'outer' }, 'http://outer'],
  ])('follows a trusted proxy: %s', async (what, headers, base) => {
    const FORWARDED_HEADER = /Forwarded/.test(what) ? 'forwarded' : 'x-forwarded';
    for (const TRUST_PROXY of ['loopback', '1'])
      expect(addressIn(await wsdl({ TRUST_PROXY, FORWARDED_HEADER }, { Host: 'inner', ...headers }))).toBe(base + PATH);
  });

  it.each<[string, Record<string, string>]>([
    ['a scheme', { 'X-Forwarded-Proto': 'javascript' }],
    ['a host', { 'X-Forwarded-Host': 'a"><b' }],
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

  it.each(['evil"><x', 'user@host', '[1:2]', 'host:99999', 'é'])(
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
