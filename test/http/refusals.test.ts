import { gzipSync } from 'node:zlib';
import { ask, envelope11, post } from '../support/bindings';
import { send } from '../support/http';
import { useService } from '../support/service';

const service = useService({ MAX_REQUEST_BYTES: '2000' });

/** Sends a message to the endpoint. */
const message = (body: string | Buffer, headers: Record<string, string> = {}) =>
  send(service.url, { method: 'POST', headers: { 'Content-Type': 'text/xml; charset=utf-8', ...headers }, body });

it.each([
  ['soap11', 'text/xml; charset=utf-8', '<faultcode>soap:Client</faultcode>'],
  ['soap12', 'application/soap+xml; charset=utf-8', '<soap:Value>soap:Sender</soap:Value>'],
] as const)('over %s a body over MAX_REQUEST_BYTES gets 413 and a fault', async (binding, contentType, code) => {
  const answer = await ask(service.url, binding, 'RecordEvent', { inside: 'x'.repeat(2000) });
  expect([answer.status, answer.headers['content-type']]).toEqual([413, contentType]);
  expect(answer.body).toContain(code);
  expect(answer.body).toContain('Maximum request length exceeded: the body has more than 2000 bytes');
});

it('a body of exactly MAX_REQUEST_BYTES is taken, and a small one that inflates to more gets 413', async () => {
  expect((await post(service.url, 'x'.repeat(2000))).status).toBe(200);
  expect((await post(service.url, gzipSync('x'.repeat(2001)), { 'Content-Encoding': 'gzip' })).status).toBe(413);
});

it.each(['', '/RecordEvent'])('a Content-Type may have 1,000 characters, and not one more (%j)', async (path) => {
  const isRefused = async (length: number) => {
    const headers = { 'Content-Type': 'text/xml;p='.padEnd(length, 'x') };
    return (await send(service.url + path, { method: 'POST', headers, body: 'x' })).body.includes(
      'than 1000 characters',
    );
  };
  expect([await isRefused(1000), await isRefused(1001)]).toEqual([false, true]);
});

it('a message in an unknown content coding gets a fault that names those that are known', async () => {
  const { status, headers, body } = await message('x', { 'Content-Encoding': 'lzw' });
  expect([status, headers['accept-encoding']]).toEqual([415, 'gzip, deflate']);
  expect(body).toMatch(/soap:Client.*The content coding lzw is not supported. Send gzip, deflate, or none./s);
});

it.each<[string | undefined, string]>([
  [undefined, 'The request has no content type.'],
  ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded is not supported'],
  ...['application/xml', 'application/soap+xml'].map((type): [string, string] => [
    type,
    `The envelope is SOAP 1.1, which is sent as text/xml, not as ${type}.`,
  ]),
])('a message of SOAP 1.1 as %s gets 415', async (type, reason) => {
  const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
  const answer = await send(service.url, { method: 'POST', headers, body: envelope11('HelloWorld') });
  expect([answer.status, answer.body]).toEqual([415, expect.stringContaining(reason)]);
});

it('a header value is escaped in a fault, and characters that XML forbids are replaced', async () => {
  const answer = await message(envelope11('HelloWorld'), { SOAPAction: '"<b>&%00%EF%BF%BE"' });
  expect(answer.status).toBe(500);
  expect(answer.body).toContain('SOAPAction: &lt;b&gt;&amp;\uFFFD\uFFFD.');
});
