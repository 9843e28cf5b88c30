import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { BINDINGS, callOperation, envelope11, eventsOf, NAMESPACE, requestOf, resultOf } from '../support/bindings';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';

const TEXT_XML = { 'Content-Type': 'text/xml; charset=utf-8' };

describe('a request that is refused', () => {
  let service: TestService;
  let root: string;
  beforeAll(async () => {
    service = await startService({ MAX_REQUEST_BYTES: '2000' });
    root = new URL(service.url).origin;
  });
  afterAll(() => service.stop());

  it.each([
    ['soap11', 'text/xml; charset=utf-8', '<faultcode>soap:Client</faultcode>'],
    ['soap12', 'application/soap+xml; charset=utf-8', '<soap:Value>soap:Sender</soap:Value>'],
  ] as const)('over %s a body over MAX_REQUEST_BYTES gets 413 and a fault', async (binding, contentType, code) => {
    const { path, ...question } = requestOf(binding, 'RecordEvent', 'x'.repeat(2000));
    const answer = await send(service.url + path, question);
    expect(answer.status).toBe(413);
    expect(answer.headers['content-type']).toBe(contentType);
    expect(answer.body).toContain(code);
    expect(answer.body).toContain(
      'Maximum request length exceeded: the body has more than 2000 bytes (MAX_REQUEST_BYTES).',
    );
  });

  it('a small body that inflates over MAX_REQUEST_BYTES gets 413', async () => {
    const answer = await send(`${service.url}/RecordEvent`, {
      method: 'POST',
      headers: { 'Content-Encoding': 'gzip' },
      body: gzipSync('x'.repeat(100_000)),
    });
    expect(answer.status).toBe(413);
  });

  it('a body of exactly MAX_REQUEST_BYTES is taken', async () => {
    const answer = await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x'.repeat(2000) });
    expect(answer.status).toBe(200);
  });

  it.each([
    {
      what: 'an unknown content coding',
      coding: 'lzw',
      body: Buffer.from('x'),
      status: 415,
      reason: 'The content coding lzw is not supported. Send gzip, deflate, or none.',
    },
    {
      what: 'a broken gzip stream',
      coding: 'gzip',
      body: gzipSync('x').subarray(0, 15),
      status: 400,
      reason: 'it is not valid gzip',
    },
  ])('$what gets a fault that says so', async ({ coding, body, status, reason }) => {
    const answer = await send(service.url, {
      method: 'POST',
      headers: { ...TEXT_XML, 'Content-Encoding': coding },
      body,
    });
    expect(answer.status).toBe(status);
    expect(answer.body).toContain('soap:Client');
    expect(answer.body).toContain(reason);
  });

  it.each([
    ['no content type', {}, 'The request has no content type.'],
    [
      'a form',
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      'application/x-www-form-urlencoded is not supported',
    ],
    [
      'SOAP 1.1 as application/xml',
      { 'Content-Type': 'application/xml' },
      'The envelope is SOAP 1.1, which is sent as text/xml, not as application/xml.',
    ],
    [
      'SOAP 1.1 as application/soap+xml',
      { 'Content-Type': 'application/soap+xml' },
      'The envelope is SOAP 1.1, which is sent as text/xml, not as application/soap+xml.',
    ],
  ])('%s on the endpoint gets 415', async (_what, headers: Record<string, string>, reason) => {
    const answer = await send(service.url, { method: 'POST', headers, body: envelope11('HelloWorld') });
    expect(answer.status).toBe(415);
    expect(answer.headers['accept-post']).toBe('text/xml, application/soap+xml');
    expect(answer.body).toContain(reason);
  });

  it.each([
    ['utf-8', Buffer.from([0x3c, 0x61, 0xff])],
    ['utf-16', Buffer.from('<a', 'utf16le')],
  ])('a message in %s that is no XML is refused', async (charset, body) => {
    const answer = await send(service.url, {
      method: 'POST',
      headers: { 'Content-Type': `text/xml; charset=${charset}` },
      body,
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('Server was unable to read request.');
  });

  it('a header value is escaped in a fault, and characters that XML forbids are replaced', async () => {
    const answer = await send(service.url, {
      method: 'POST',
      headers: { ...TEXT_XML, SOAPAction: '"<b>&%00%EF%BF%BE"' },
      body: envelope11('HelloWorld'),
    });
    expect(answer.status).toBe(500);
    expect(answer.body).toContain('SOAPAction: &lt;b&gt;&amp;\uFFFD\uFFFD.');
  });

  it('an unknown address gets 404, an unknown operation 500 as on the original, also one that is not UTF-8', async () => {
    expect((await send(`${root}/other`)).status).toBe(404);
    expect((await send(`${root}/other/Services/WebHooks.asmx`)).status).toBe(404);
    const answer = await send(`${service.url}/%E0%A4`);
    expect([answer.status, answer.body]).toEqual([500, '%E0%A4 Web Service method name is not valid.\n']);
  });

  it('does not stop the service when its caller goes away midway', async () => {
    const { hostname, port, pathname } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const head = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: 1000\r\n\r\n<a>`;
    await new Promise<void>((resolve) => socket.write(head, () => resolve()));
    socket.destroy();
    expect(await callOperation(service.url, 'soap11', 'HelloWorld')).toBe('Hello World');
  });
});

describe('a request that is accepted', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('may have the path in any case, and the name of the operation percent-encoded', async () => {
    const url = service.url.replace('/webhooks/Services/WebHooks.asmx', '/WEBHOOKS/services/webhooks.ASMX');
    for (const binding of BINDINGS) expect(await callOperation(url, binding, 'HelloWorld')).toBe('Hello World');
    expect(resultOf(await send(`${service.url}/Hello%57orld`))).toBe('Hello World');
  });

  it('may be in ISO-8859-1, named only in the XML declaration', async () => {
    const xml = envelope11('RecordEvent', '<a>é</a>').replace('utf-8', 'iso-8859-1');
    const answer = await send(service.url, {
      method: 'POST',
      headers: { 'Content-Type': 'text/xml', SOAPAction: `${NAMESPACE}RecordEvent` },
      body: Buffer.from(xml, 'latin1'),
    });
    const id = resultOf(answer);
    const recorded = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents')).find(
      (event) => event.id === id,
    );
    expect(recorded?.data).toBe(`<a xmlns="${NAMESPACE}">é</a>`);
  });

  it('may have a SOAPAction that is percent-encoded', async () => {
    const answer = await send(service.url, {
      method: 'POST',
      headers: { ...TEXT_XML, SOAPAction: '"http%3A%2F%2Ftempuri.org%2FHelloWorld"' },
      body: envelope11('GetEvents'),
    });
    expect(resultOf(answer)).toBe('Hello World');
  });

  it('is not routed by a namespace and a name that only look like the operation when joined', async () => {
    const body = envelope11('HelloWorld')
      .replace(`<HelloWorld xmlns="${NAMESPACE}">`, `<World xmlns="${NAMESPACE}Hello">`)
      .replace('</HelloWorld>', '</World>');
    const answer = await send(service.url, { method: 'POST', headers: TEXT_XML, body });
    expect(answer.status).toBe(500);
  });
});
