import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from 'xmlbuilder2';
import { BUILD } from '../../../src/util/program';
import { requestOf } from '../../support/bindings';
import { ORIGINAL_OPERATIONS, withoutAddedOperations } from '../../support/contract';
import { send } from '../../support/http';
import { ANY_SHELL, samplesOn } from '../../support/page';
import { startService, useService } from '../../support/service';
import { sendRaw } from '../../support/wire';

const BINDINGS = ['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST'];
const PAGES = ['', ...ORIGINAL_OPERATIONS.map((name) => `?op=${name}`), '?op=Nope'];

describe('the documents on the endpoint', () => {
  const service = useService();

  const get = (query: string, headers: Record<string, string> = {}) => send(service.url + query, { headers });

  /** Gets a document without a policy, which browsers would apply to their view of XML. */
  const getXml = async (query: string) => {
    const { status, headers, body } = await get(query);
    const { 'content-type': type, 'content-security-policy': policy, 'x-content-type-options': options } = headers;
    expect([status, type, policy, options]).toEqual([200, 'text/xml; charset=utf-8', undefined, 'nosniff']);
    return body;
  };

  it.each(['?WSDL', '?wsdl', '?wsdl=', '?x=1&Wsdl=x'])(
    '%s gets the very document of the service that this one replaces',
    async (query) => {
      const original = await readFile(join(__dirname, '..', '..', 'fixtures', 'WebHooks.wsdl'), 'utf8');
      expect(await withoutAddedOperations(await getXml(query))).toBe(
        original.replaceAll('{namespace}', 'http://tempuri.org/').replaceAll('{address}', service.url),
      );
    },
  );

  it.each(['?WSDL=extended', '?x&Wsdl=EXTENDED'])(
    '%s gets the service description with what the operations take',
    async (query) => {
      const body = await getXml(query);
      expect(body).toContain('name="after" type="s:string"');
      expect(body.match(/<s:any /g)).toHaveLength(1);
      expect(body.split(`location="${service.url}"`)).toHaveLength(5);
      expect(body).not.toMatch(/\{namespace\}|\{address\}/);
    },
  );

  it('?DISCO names the description, the endpoint and the two SOAP bindings', async () => {
    const parsed = create(await getXml('?disco')).end({ format: 'object' }) as { discovery: Record<string, unknown> };
    expect(parsed.discovery).toEqual({
      '@xmlns': 'http://schemas.xmlsoap.org/disco/',
      contractRef: {
        '@xmlns': 'http://schemas.xmlsoap.org/disco/scl/',
        '@ref': `${service.url}?wsdl`,
        '@docRef': service.url,
      },
      soap: ['WebHookSoap', 'WebHookSoap12'].map((binding) => ({
        '@xmlns': 'http://schemas.xmlsoap.org/disco/soap/',
        '@address': service.url,
        '@xmlns:q1': 'http://tempuri.org/',
        '@binding': `q1:${binding}`,
      })),
    });
  });

  it.each(['', '?', '?anything', '?x=wsdl', '?=wsdl'])('the query %j gets the service page', async (query) => {
    const { status, headers, body } = await get(query);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    for (const name of ORIGINAL_OPERATIONS) expect(body).toContain(`<a href="WebHooks.asmx?op=${name}">${name}</a>`);
    expect(body).toContain('<a href="WebHooks.asmx?WSDL">Service description</a>');
    expect(body).toContain('Returns the newest recorded events, oldest first');
  });

  it('an unknown operation gets a page with 404 that lists the others, and escapes and shortens its name', async () => {
    const { status, body } = await get(`?op=%3Cscript%3E${'x'.repeat(5000)}`);
    expect(status).toBe(404);
    expect(body).toContain(`<code>&lt;script&gt;${'x'.repeat(192)}…</code>`);
    expect(body).toContain('?op=GetEvents">GetEvents</a>');
    expect(body).not.toMatch(/<script>x|x{193}/);
  });

  it.each(PAGES)('the page %j loads nothing from elsewhere, and allows only its own code', async (query) => {
    const { headers, body } = await get(query);
    expect(body).toContain(`<p>WebHook ${BUILD.name}</p>`);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe-inline');
    const sources = (element: string) => policy.split(';').find((part) => part.startsWith(`${element}-src `));
    for (const [, element = '', text = ''] of body.matchAll(/<(style|script)\b[^>]*>([^]*?)<\/\1>/g))
      expect(sources(element)).toContain(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
    const isOperation = ORIGINAL_OPERATIONS.includes(query.slice('?op='.length));
    expect(sources('img')).toBe('img-src data:');
    expect(sources('connect')).toBe(isOperation ? "connect-src 'self'" : undefined);
    expect(sources('script') !== undefined).toBe(isOperation || query === '');
    expect(body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(body).not.toMatch(/ style="| on\w+="| tabindex="(?!0")/);
  });

  it.each(['', '?WSDL', '?WSDL=extended', '?disco', '?op=GetEvents', '?op=Nope'])(
    'HEAD %j answers like GET, without a body',
    async (query) => {
      const got = await get(query);
      const head = await send(service.url + query, { method: 'HEAD' });
      expect([head.status, head.body]).toEqual([got.status, '']);
      const perResponse = { date: '', 'x-request-id': '' };
      expect({ ...head.headers, ...perResponse }).toEqual({ ...got.headers, ...perResponse });
    },
  );

  it.each(['/', '/?x=1'])('GET and HEAD of %s lead to the service page, under whatever address', async (path) => {
    const at = new URL(path, service.url);
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await send(at.href, { method });
      const location = String(headers.location);
      expect([status, new URL(location, at).href, body === '']).toEqual([302, service.url, method === 'HEAD']);
      const { pathname } = new URL(service.url);
      expect(new URL(location, 'https://outer.example/prefix/').pathname).toBe(`/prefix${pathname}`);
    }
    expect((await send(at.href, { method: 'POST' })).status).toBe(404);
  });

  it('the curl samples are in one line for any shell, and left out where there is no such line', async () => {
    const { url } = await startService({ SERVICE_NAMESPACE: "http://example.com/it's/" });
    for (const operation of ORIGINAL_OPERATIONS) {
      const { body } = await send(`${url}?op=${operation}`);
      for (const binding of BINDINGS) expect(samplesOn(body, binding).curl).toMatch(ANY_SHELL);
    }
    const variable = await startService({ SERVICE_NAMESPACE: 'urn:$HOME' });
    const { body } = await send(`${variable.url}?op=HelloWorld`);
    expect(body.match(/(?<=id=")[\w-]+-curl(?=")/g)).toEqual(['http-get-curl', 'http-post-curl']);
  });

  it.each(ORIGINAL_OPERATIONS)('the samples of %s get the response that they show', async (operation) => {
    const { body } = await get(`?op=${operation}`);
    for (const binding of BINDINGS) {
      const { request, response } = samplesOn(body, binding);
      const [head = '', ...rest] = request.split('\n\n');
      expect(head).toContain(`\nHost: ${new URL(service.url).host}`);
      const fields = `${head}\nConnection: close`.replaceAll('\n', '\r\n');
      const answer = await sendRaw(service.url, `${fields}\r\n\r\n${rest.join('\n\n')}`);
      expect(messageOf(answer)).toBe(withoutResult(response));
    }
  });
});

describe('the address in the documents', () => {
  const path = '/webhooks/Services/WebHooks.asmx';
  const headers = {
    Host: 'inner',
    'X-Forwarded-Host': 'outer.example:8443',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Prefix': '/a/b/',
    Forwarded: 'for=192.0.2.1;host="standard.example";proto=https',
  };
  const vary = 'Host, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, X-Forwarded-Proto';

  it.each<[Record<string, string>, string, string]>([
    [{}, 'http://inner', 'Host'],
    [{ TRUST_PROXY: 'loopback' }, 'https://outer.example:8443/a/b', vary],
    [{ TRUST_PROXY: '1', FORWARDED_HEADER: 'forwarded' }, 'https://standard.example', 'Host, Forwarded'],
    [{ BASE_URL: 'https://hooks.example/outer/', TRUST_PROXY: '1' }, 'https://hooks.example/outer', vary],
  ])('with %j is %s', async (variables, base, depends) => {
    const service = await startService(variables);
    const wsdl = await send(`${service.url}?WSDL`, { headers });
    const addresses = [...wsdl.body.matchAll(/:address location="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses).toEqual(new Array(4).fill(base + path));
    const root = await send(new URL('/', service.url).href, { headers });
    // With a slash after it or without.
    for (const from of [base, `${base}/`]) expect(new URL(String(root.headers.location), from).href).toBe(base + path);
    expect([wsdl.headers.vary, root.headers.vary]).toEqual([depends, depends]);
  });

  it('is refused where a caller or a trusted proxy states a wrong one, which is not echoed', async () => {
    const service = await startService({ TRUST_PROXY: '1' });
    const hosts = ['evil"><x', 'evil@host', '[1:2]', 'evil:99999', 'é'].map((Host) => ({ Host }));
    const wrong: readonly Record<string, string>[] = [...hosts, { 'X-Forwarded-Proto': 'javascript' }];
    for (const headers of wrong) {
      const answer = await send(`${service.url}?WSDL`, { headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([400, 'text/plain; charset=utf-8']);
      expect(answer.body + JSON.stringify(answer.headers)).not.toMatch(/evil|javascript/);
    }
    const { path, ...question } = requestOf('soap11', 'GetEvents');
    const headers = { ...question.headers, 'X-Forwarded-Proto': 'javascript' };
    const { status, body } = await send(service.url + path, { ...question, headers });
    expect(status).toBe(400);
    expect(body).toContain('<faultcode>soap:Client</faultcode><faultstring>The forwarded scheme is neither');
  });
});

/** Writes an answer as the samples show it: indented, with `string` and `length` as placeholders. */
function messageOf(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const fields = head.split('\r\n').filter((line) => /^(?:HTTP\/|Cache-Control|Content-)/.test(line));
  const message = [...fields, '', create(body).end({ prettyPrint: true, spaceBeforeSlash: true })].join('\n');
  return withoutResult(message.replace(/(?<=Content-Length: )\d+/, 'length'));
}

function withoutResult(message: string): string {
  return message.replace(/(Result>|<string [^>]*>)[^<]*(<\/)/, '$1string$2');
}
