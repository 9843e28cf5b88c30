import { createClientAsync } from 'soap';
import { Contract } from '../../src/contract/contract';
import type { Operation, Service } from '../../src/service/call';
import {
  ask,
  BINDINGS,
  callOperation,
  NAMESPACE,
  SOAP_11_NAMESPACE,
  SOAP_12_NAMESPACE,
  type BindingName,
} from '../support/bindings';
import { startEndpoint, type TestEndpoint } from '../support/endpoint';
import { send } from '../support/http';

const hello: Operation = { access: 'open', run: () => Promise.resolve('Hello World') };
const SERVICE: Service = { RecordEvent: { ...hello, access: 'record' }, GetEvents: hello, HelloWorld: hello };

const start = async (bindings: readonly BindingName[], documentation = true): Promise<TestEndpoint> =>
  startEndpoint(SERVICE, await Contract.load(NAMESPACE, { protocols: new Set(bindings), documentation }));

const KINDS = { soap11: 'Soap', soap12: 'Soap12', httpget: 'HttpGet', httppost: 'HttpPost' };
const portOf = (binding: BindingName) => `WebHook${KINDS[binding]}`;
const NAMES = { soap11: 'SOAP 1.1', soap12: 'SOAP 1.2', httpget: 'HTTP GET', httppost: 'HTTP POST' };

/** The names that a WSDL defines with elements of a kind, and those to which it refers with an attribute. */
const defined = (wsdl: string, element: string): string[] =>
  [...wsdl.matchAll(new RegExp(`^ {2,6}<${element} name="(\\w+)"`, 'gm'))].map(([, name = '']) => name);
const referred = (wsdl: string, attribute: string): string[] => [
  ...new Set([...wsdl.matchAll(new RegExp(` ${attribute}="tns:(\\w+)"`, 'g'))].map(([, name = '']) => name)),
];

describe.each(['soap11', 'soap12', 'httpget', 'soap12,httppost', BINDINGS.join()])('PROTOCOLS=%s', (text) => {
  const on = text.split(',') as BindingName[];
  const has = (binding: BindingName): boolean => on.includes(binding);
  const hasSoap = has('soap11') || has('soap12');
  const http = on.filter((binding) => binding.startsWith('http')).map((binding) => KINDS[binding]);
  const soap = on.filter((binding) => binding.startsWith('soap')).map((binding) => KINDS[binding]);
  let endpoint: TestEndpoint;
  let bare: TestEndpoint;
  beforeAll(async () => {
    [endpoint, bare] = await Promise.all([start(on), start(on, false)]);
  });

  it('answers calls over what is on, with the documentation and without', async () => {
    for (const { url } of [endpoint, bare]) {
      for (const binding of on) expect(await callOperation(url, binding, 'HelloWorld')).toBe('Hello World');
    }
  });

  it('refuses what is off as ASP.NET does', async () => {
    for (const [{ url }, documentation] of [[endpoint, true] as const, [bare, false] as const]) {
      for (const binding of BINDINGS.filter((name) => !has(name))) {
        const isSoap = binding.startsWith('soap');
        const { status, body, headers } = await ask(url, binding, 'HelloWorld');
        if (isSoap && hasSoap) {
          expect([status, headers['content-type']]).toEqual([500, 'text/xml; charset=utf-8']);
          expect(body).toContain('<faultcode>soap:VersionMismatch</faultcode>');
          continue;
        }
        const others = http.length > 0;
        const expected = isSoap ? documentation || !others : !documentation && others;
        expect([binding, documentation, status]).toEqual([binding, documentation, expected ? 405 : 500]);
        expect(headers.allow !== undefined).toBe(status === 405);
        expect(body).toContain('Request format is unrecognized');
        expect(body).toContain('is off (PROTOCOLS).');
      }
    }
  });

  it('describes what is on in both WSDLs, and nothing else', async () => {
    const names = (await Contract.load(NAMESPACE)).operations.map(({ name }) => name);
    for (const query of ['?WSDL', '?WSDL=extended']) {
      const { body } = await send(endpoint.url + query);
      const kinds = [...soap.slice(0, 1), ...http];
      const ports = on.map(portOf);
      expect(defined(body, 'wsdl:binding')).toEqual(ports);
      expect(defined(body, 'wsdl:port')).toEqual(ports);
      expect(defined(body, 'wsdl:portType')).toEqual(kinds.map((kind) => `WebHook${kind}`));
      const messages = kinds.flatMap((kind) => names.flatMap((name) => [`${name}${kind}In`, `${name}${kind}Out`]));
      // The order of messages and elements says nothing.
      expect(defined(body, 'wsdl:message').sort()).toEqual(messages.sort());
      const elements = hasSoap ? names.flatMap((name) => [name, `${name}Response`]) : [];
      expect(defined(body, 's:element').sort()).toEqual([...elements, ...(http.length > 0 ? ['string'] : [])].sort());
      expect(referred(body, 'message').sort()).toEqual(messages);
      expect(referred(body, 'element').sort()).toEqual(defined(body, 's:element').sort());
      for (const part of body.match(/<wsdl:(portType|binding) name=.*?<\/wsdl:\1>/gs) ?? [])
        expect([...part.matchAll(/<wsdl:operation name="(\w+)"/g)].map(([, name]) => name)).toEqual(names);
      expect(referred(body, 'type')).toEqual(defined(body, 'wsdl:portType'));
      expect(referred(body, 'binding')).toEqual(ports);
      expect(body).not.toMatch(/\n\s*\n/);
    }
  });

  it('shows what is on in the discovery document and on the pages, and nothing else', async () => {
    const disco = (await send(`${endpoint.url}?disco`)).body;
    expect([...disco.matchAll(/binding="q1:(\w+)"/g)].map(([, name]) => name)).toEqual(
      soap.map((kind) => `WebHook${kind}`),
    );
    const page = (await send(`${endpoint.url}?op=HelloWorld`)).body;
    expect([...page.matchAll(/<h3 id="(?:soap|http)[\w-]+">([^<]+)</g)].map(([, name]) => name)).toEqual(
      on.map((binding) => NAMES[binding]),
    );
    expect(page.includes('<form id="call"')).toBe(has('httppost'));
    expect(page.includes('id="answer-link"')).toBe(has('httpget') && has('httppost'));
    for (const query of ['', '?op=HelloWorld', '?op=GetEvents', '?op=RecordEvent']) {
      const html = (await send(endpoint.url + query)).body;
      for (const binding of BINDINGS.filter((name) => !has(name) && name !== 'httppost'))
        expect(html).not.toContain(NAMES[binding]);
    }
  });

  it('names the methods that are on', async () => {
    const allowed = async (url: string, method: string) => (await send(url, { method })).headers.allow;
    const methods = [...(has('httpget') ? ['GET'] : []), 'OPTIONS', ...(has('httppost') ? ['POST'] : [])].join(', ');
    const post = hasSoap ? ', POST' : '';
    for (const method of ['OPTIONS', 'DELETE']) {
      expect(await allowed(`${endpoint.url}/RecordEvent`, method)).toBe(methods);
      expect(await allowed(endpoint.url, method)).toBe(`GET, HEAD, OPTIONS${post}`);
      expect(await allowed(bare.url, method)).toBe(`OPTIONS${post}`);
    }
  });

  it('without the documentation refuses all documents as ASP.NET does', async () => {
    for (const query of ['', '?WSDL', '?wsdl=extended', '?disco', '?op=HelloWorld']) {
      const { status, body } = await send(bare.url + query);
      expect([query, status]).toEqual([query, http.length > 0 ? 500 : 405]);
      expect(body).toBe('Request format is unrecognized. The documentation is off (DOCUMENTATION).\n');
    }
    expect((await send(new URL('/', bare.url).href)).status).toBe(404);
  });

  if (soap.length > 0)
    it('can be called by a client made from the WSDL', async () => {
      const client = await createClientAsync(`${endpoint.url}?WSDL`, { forceSoap12Headers: !has('soap11') });
      const call = client.HelloWorldAsync as (input: object) => Promise<[{ readonly HelloWorldResult: string }]>;
      const [result] = await call({});
      expect(result.HelloWorldResult).toBe('Hello World');
    });
});

describe('a SOAP version that is off', () => {
  it.each([
    ['soap11', SOAP_12_NAMESPACE, SOAP_11_NAMESPACE, SOAP_11_NAMESPACE, []],
    ['soap11', 'urn:x', SOAP_11_NAMESPACE, SOAP_11_NAMESPACE, []],
    ['soap12', SOAP_11_NAMESPACE, SOAP_12_NAMESPACE, SOAP_11_NAMESPACE, ['soap12:Envelope']],
    ['soap12', 'urn:x', SOAP_12_NAMESPACE, SOAP_12_NAMESPACE, ['soap12:Envelope']],
  ] as const)('with %s alone a message in %s is told so: %s, in %s', async (on, given, expected, told, upgrade) => {
    const { url, reports } = await start([on]);
    const envelope = `<e:Envelope xmlns:e="${given}"><e:Body/></e:Envelope>`;
    const asked = { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body: envelope };
    const { status, headers, body } = await send(url, asked);
    const type = told === SOAP_11_NAMESPACE ? 'text/xml' : 'application/soap+xml';
    expect([status, headers['content-type']]).toEqual([500, `${type}; charset=utf-8`]);
    expect(body).toContain(`<soap:Envelope xmlns:soap="${told}"`);
    expect(body).toContain(`mismatch: Envelope namespace ${given} was unexpected. Expecting ${expected}.`);
    expect([...body.matchAll(/qname="([^"]+)"/g)].map(([, name]) => name)).toEqual(upgrade);
    expect(body.includes(`xmlns:soap12="${SOAP_12_NAMESPACE}"`)).toBe(upgrade.length > 0);
    expect(reports).toMatchObject([{ binding: on, status: 500, error: { category: 'invalid' } }]);
  });

  it.each([
    ['soap11', 'text/xml', 'SOAP 1.1 as text/xml'],
    ['soap12', 'application/soap+xml', 'SOAP 1.2 as application/soap+xml'],
  ] as const)('is not among the content types of %s alone', async (on, type, sentence) => {
    const { url } = await start([on]);
    const { status, headers, body } = await send(url, { method: 'POST', headers: { 'Content-Type': 'image/png' } });
    expect([status, headers['accept-post'], headers['content-type']]).toEqual([415, type, `${type}; charset=utf-8`]);
    expect(body).toContain(`Send ${sentence}.<`);
  });
});

it('a binding that is off is reported with the calls it refuses, and answers in JSON a caller that prefers it', async () => {
  const { url, reports } = await start(['soap11']);
  const { status, body } = await ask(url, 'httppost', 'RecordEvent', { headers: { Accept: 'application/json' } });
  const detail =
    "Request format is unrecognized for URL unexpectedly ending in '/RecordEvent'. HTTP POST is off (PROTOCOLS).";
  expect([status, JSON.parse(body)]).toMatchObject([500, { detail }]);
  const binding = 'httppost';
  expect(reports).toMatchObject([{ binding, operation: undefined, status: 500, error: { category: 'invalid' } }]);
});
