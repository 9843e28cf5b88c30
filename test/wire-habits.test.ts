import { gzipSync } from 'node:zlib';
import { encode } from 'iconv-lite';
import {
  callOperation,
  envelope11,
  envelope12,
  NAMESPACE,
  newestEvents,
  resultOf,
  type CloudEvent,
} from './support/bindings';
import { eventually } from './support/eventually';
import { send, type Question } from './support/http';
import { useService } from './support/service';
import { openWire, PATH, request } from './support/wire';

const HELLO = envelope11('HelloWorld');
const TEXT = 'Grüße 日本 😀';
const NOTE = `<note>${TEXT}</note>`;

const service = useService();

/** The header of a SOAP 1.1 call. */
function head(version: '1.0' | '1.1', operation: string, ...fields: readonly string[]): string {
  const soap11 = ['Content-Type: text/xml; charset=utf-8', `SOAPAction: "${NAMESPACE}${operation}"`];
  return request(`POST ${PATH}`, ...soap11, ...fields).replace('HTTP/1.1', `HTTP/${version}`);
}

const length = `Content-Length: ${String(Buffer.byteLength(HELLO))}`;
const RESULT = /<HelloWorldResult>Hello World<\/HelloWorldResult>[^]*<\/soap:Envelope>/;

async function recorded(id: string): Promise<CloudEvent | undefined> {
  return (await newestEvents(service.url)).find((event) => event.id === id);
}

describe('a client may', () => {
  it('wait for 100 Continue before it sends the body, as .NET does', async () => {
    const wire = await openWire(service.url);
    wire.write(head('1.1', 'HelloWorld', length, 'Expect: 100-Continue'));
    expect(await wire.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    wire.write(HELLO);
    expect(await wire.until(RESULT)).toContain('HTTP/1.1 200 OK');
  });

  it('not wait for 100 Continue and then send no body: it is refused, so that a retry can use its key again', async () => {
    const answers = ['HelloWorld', 'GetEvents', 'RecordEvent'].map(async (operation) => {
      const wire = await openWire(service.url);
      const fields = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 9', 'Expect: 100-continue'];
      wire.write(request(`POST ${PATH}/${operation}`, ...fields));
      await wire.until(/100 Continue\r\n\r\n/);
      wire.socket.end();
      return wire.untilClosed();
    });
    for (const answer of await Promise.all(answers))
      expect(answer).toMatch(/HTTP\/1\.1 400 [^]*the connection was closed before its end/);
  });

  it('speak HTTP/1.0 without Host and keep-alive; it gets no 100, a Content-Length, no chunks, and the connection is closed', async () => {
    const wire = await openWire(service.url);
    const fields = [length, 'Connection: close', 'Expect: 100-continue, magic'];
    wire.write(head('1.0', 'HelloWorld', ...fields).replace('Host: localhost\r\n', ''), HELLO);
    const answer = await wire.untilClosed();
    const [header = '', body = ''] = answer.split('\r\n\r\n');
    expect(header).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(header).toMatch(new RegExp(`\r\nContent-Length: ${String(body.length)}(\r\n|$)`));
    expect(header).not.toMatch(/Transfer-Encoding/i);
    expect(body).toMatch(RESULT);
  });

  it('speak HTTP/1.0 with keep-alive', async () => {
    const wire = await openWire(service.url);
    const call = [head('1.0', 'HelloWorld', length, 'Connection: keep-alive'), HELLO];
    wire.write(...call);
    expect(await wire.until(RESULT)).toMatch(/\r\nConnection: keep-alive\r\n/i);
    wire.write(...call);
    await wire.until(new RegExp(`${RESULT.source}[^]*${RESULT.source}`));
  });

  it('send the body in chunks, split inside a character', async () => {
    const wire = await openWire(service.url);
    const body = Buffer.from(envelope11('RecordEvent', NOTE));
    const middle = body.indexOf('ü') + 1;
    const chunk = (part: Buffer) => [`${part.length.toString(16)}\r\n`, part, '\r\n'];
    wire.write(head('1.1', 'RecordEvent', 'Transfer-Encoding: chunked'));
    wire.write(...chunk(body.subarray(0, middle)), ...chunk(body.subarray(middle)), '0\r\n\r\n');
    const answer = await wire.until(/<RecordEventResult>.*<\/RecordEventResult>/);
    const id = /<RecordEventResult>(.*)<\/RecordEventResult>/.exec(answer)?.[1] ?? '';
    expect((await recorded(id))?.data).toContain(TEXT);
  });

  it('close the connection before the answer; a request it had sent completely is recorded, and others are served', async () => {
    const wire = await openWire(service.url);
    const body = envelope11('RecordEvent', '<left/>');
    const sent = new Promise((resolve) => wire.socket.once('close', resolve));
    wire.write(head('1.1', 'RecordEvent', `Content-Length: ${String(body.length)}`), body);
    wire.socket.destroySoon();
    await sent;
    expect(await callOperation(service.url, 'soap11', 'HelloWorld')).toBe('Hello World');
    await eventually('it is recorded', async () =>
      (await newestEvents(service.url)).some(({ data }) => String(data).startsWith('<left')),
    );
  });

  const soap11 = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"${NAMESPACE}RecordEvent"` };
  const soap12 = { 'Content-Type': 'application/soap+xml; charset=utf-8' };
  const xml = envelope11('RecordEvent', NOTE);
  const xml12 = envelope12('RecordEvent', NOTE);
  const cyrillic = encode(xml.replace('utf-8', 'koi8-r').replace(TEXT, 'Привет'), 'koi8-r');
  const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
  const as = (type: string, body: string | Buffer): Question => ({
    headers: { ...soap11, 'Content-Type': type },
    body,
  });
  it.each<[string, Question, string?]>([
    ['compress the body', { headers: { ...soap11, 'Content-Encoding': 'gzip' }, body: gzipSync(xml) }],
    ['begin with a byte order mark (SOAP 1.1)', { headers: soap11, body: `\ufeff${xml}` }],
    ['deny that byte order mark', as('text/xml; charset=iso-8859-1', `\ufeff${xml}`)],
    ['begin with a byte order mark (SOAP 1.2)', { headers: soap12, body: `\ufeff${xml12}` }],
    ['send UTF-16', as('text/xml; charset=utf-16', utf16(`\ufeff${xml.replace('utf-8', 'utf-16')}`))],
    ['send UTF-16 that nothing announces', as('text/xml', utf16(xml.replace(/<\?.*?\?>/, '')))],
    ['put the character set in single quotes', as("text/xml; charset='utf-8'", xml.replace(TEXT, `${TEXT}\uFFFD`))],
    ['send GB 18030', as('text/xml; charset=gb18030', encode(xml.replace(TEXT, `${TEXT}\uFFFD`), 'gb18030'))],
    ['name KOI8-R only in the XML declaration', as('text/xml', cyrillic), 'Привет'],
    ['omit SOAPAction over SOAP 1.2', { headers: soap12, body: xml12 }],
    ['send SOAPAction over SOAP 1.2', { headers: { ...soap12, SOAPAction: soap11.SOAPAction }, body: xml12 }],
    ['give the action over SOAP 1.2', as(`application/soap+xml; action="${NAMESPACE}RecordEvent"`, xml12)],
  ])('%s', async (_habit, question, text = TEXT) => {
    const answer = await send(service.url, { method: 'POST', ...question });
    expect(answer.status).toBe(200);
    expect((await recorded(resultOf(answer)))?.data).toContain(text);
  });
});
