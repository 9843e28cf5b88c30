import { HtmlValidate } from 'html-validate';
import { create } from 'xmlbuilder2';
import { callOperation, eventsOf } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { codeOf, samplesOn } from '../support/page';
import { startService, type TestService } from '../support/service';

const OPERATIONS = ['RecordEvent', 'GetEvents', 'HelloWorld'];
const PAGES = ['', ...OPERATIONS.map((name) => `?op=${name}`), '?op=Nope'];

describe('the documents on the endpoint', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const get = (query: string, headers: Record<string, string> = {}) => send(service.url + query, { headers });

  it.each(['?WSDL', '?wsdl', '?Wsdl', '?wsdl=', '?x=1&wsdl'])('%s is the service description', async (query) => {
    const answer = await get(query);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/xml; charset=utf-8']);
    expect(create(answer.body).root().node.nodeName).toBe('wsdl:definitions');
  });

  it('?DISCO names the description, the endpoint and the two SOAP bindings', async () => {
    const answer = await get('?disco');
    expect(answer.headers['content-type']).toBe('text/xml; charset=utf-8');
    const parsed = create(answer.body).end({ format: 'object' }) as { discovery: Record<string, unknown> };
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

  it.each(['', '?', '?anything', '?x=wsdl'])('the query %j gets the service page', async (query) => {
    const { status, headers, body } = await get(query);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    for (const name of OPERATIONS) expect(body).toContain(`<a href="WebHooks.asmx?op=${name}">${name}</a>`);
    expect(body).toContain('<a href="WebHooks.asmx?WSDL">Service description</a>');
    expect(body).toContain('Returns the newest recorded events, oldest first');
  });

  it('an operation that is not there gets a page that says so, with 404, and its name escaped', async () => {
    const { status, body } = await get('?op=%3Cscript%3E');
    expect(status).toBe(404);
    expect(body).toContain('<code>&lt;script&gt;</code>');
    expect(body).not.toContain('<script>&');
  });

  it.each(PAGES)('the page %j is valid HTML', async (query) => {
    const { body } = await get(query);
    const report = await new HtmlValidate({ extends: ['html-validate:standard'] }).validateString(body);
    expect(report.results.flatMap(({ messages }) => messages)).toEqual([]);
  });

  it.each(PAGES)('the page %j loads nothing from elsewhere and allows nothing inline but its own', async (query) => {
    const { headers, body } = await get(query);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe-inline');
    expect(body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(body).not.toMatch(/ style="| on\w+="/);
  });

  it.each(['', '?WSDL', '?disco', '?op=GetEvents', '?op=Nope'])(
    'HEAD on %j answers as GET does, without a body',
    async (query) => {
      const got = await get(query);
      const head = await send(service.url + query, { method: 'HEAD' });
      expect([head.status, head.body]).toEqual([got.status, '']);
      const ofTheAnswer = { date: '', 'x-request-id': '' };
      expect({ ...head.headers, ...ofTheAnswer }).toEqual({ ...got.headers, ...ofTheAnswer });
    },
  );

  it('a document that a caller has already is not sent again', async () => {
    const { headers } = await get('?WSDL');
    const again = await get('?WSDL', { 'If-None-Match': String(headers.etag) });
    expect([again.status, again.body]).toEqual([304, '']);
  });

  it('the page warns of the placeholder namespace, and only of that', async () => {
    expect((await get('')).body).toContain('SERVICE_NAMESPACE=https://example.com/webhooks/ npm start');
    const other = await startService({ SERVICE_NAMESPACE: 'urn:example:hooks/' });
    expect((await send(other.url)).body).not.toContain('tempuri.org');
    await other.stop();
  });

  describe.each(OPERATIONS)('the samples of %s', (operation) => {
    it.each(['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST'])(
      'over %s get the answer that they show',
      async (binding) => {
        const { body } = await get(`?op=${operation}`);
        const sample = samplesOn(body, binding);
        const answer = await sendMessage(sample.request);
        expect(messageOf(answer)).toBe(withoutResult(sample.response));
      },
    );
  });

  it('the form of an operation posts to it', async () => {
    const { body } = await get('?op=RecordEvent');
    const action = /<form method="post" action="([^"]*)">/.exec(body)?.[1] ?? '';
    const answer = await send(new URL(action, service.url).href, { method: 'POST', body: '' });
    const id = create(answer.body).root().node.textContent;
    expect(eventsOf(await callOperation(service.url, 'soap12', 'GetEvents')).at(-1)?.id).toBe(id);
  });

  it('a page shows what it is made of as text', async () => {
    const { body } = await get('?op=HelloWorld');
    expect(codeOf(body, 'soap-1-1-request')).toContain('SOAPAction: "http://tempuri.org/HelloWorld"');
  });

  /** Sends a message as it stands on the page. */
  async function sendMessage(message: string): Promise<Answer> {
    const [head = '', ...rest] = message.split('\n\n');
    const [start = '', ...fields] = head.split('\n');
    const [method = '', target = ''] = start.split(' ');
    const headers = Object.fromEntries(fields.map((field) => field.split(/: (.*)/s) as [string, string]));
    expect(headers.Host).toBe(new URL(service.url).host);
    const body = rest.join('\n\n');
    if (method === 'POST') expect(headers['Content-Length']).toBe(String(Buffer.byteLength(body)));
    return send(new URL(target, service.url).href, { method, headers, ...(method === 'POST' ? { body } : {}) });
  }
});

/** An answer as the samples show it: indented, with `string` and `length` in place of what differs. */
function messageOf({ status, headers, body }: Answer): string {
  return withoutResult(
    [
      `HTTP/1.1 ${String(status)} OK`,
      `Cache-Control: ${String(headers['cache-control'])}`,
      `Content-Type: ${String(headers['content-type'])}`,
      'Content-Length: length',
      '',
      create(body).end({ prettyPrint: true, spaceBeforeSlash: true }),
    ].join('\n'),
  );
}

function withoutResult(message: string): string {
  return message.replace(/(Result>|<string [^>]*>)[^<]*(<\/)/, '$1string$2');
}
