import { deflateSync, gzipSync } from 'node:zlib';
import * as iconv from 'iconv-lite';
import { callOperation, eventsOf, resultOf, type CloudEvent } from '../support/bindings';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';

describe('the payload of HTTP POST', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ MAX_REQUEST_BYTES: '5000' });
  });
  afterAll(() => service.stop());

  const post = async (headers: Record<string, string>, body: Buffer): Promise<CloudEvent | undefined> => {
    const answer = await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    const id = resultOf(answer);
    return eventsOf(await callOperation(service.url, 'httpget', 'GetEvents')).find((event) => event.id === id);
  };

  it.each([
    ['windows-1252', '€ ž'],
    ['shift_jis', '日本語'],
    ['utf-16', 'é \u{1F600}'],
  ])('is decoded as %s if the content type says so', async (charset, text) => {
    const type = `text/plain; charset="${charset}"`;
    expect(await post({ 'Content-Type': type }, iconv.encode(text, charset))).toMatchObject({
      data: text,
      datacontenttype: type,
    });
    const json = iconv.encode(JSON.stringify({ text }), charset);
    expect(await post({ 'Content-Type': `application/json; charset=${charset}` }, json)).toMatchObject({
      data: { text },
    });
  });

  it('is the query string if there is no body', async () => {
    const answer = await send(`${service.url}/RecordEvent?a=1&a=2`, { method: 'POST', body: '' });
    const [event] = eventsOf(await callOperation(service.url, 'httpget', `GetEvents?id=${resultOf(answer)}&`));
    expect(event?.data).toEqual({ a: ['1', '2'] });
  });

  describe.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ])('compressed with %s', (coding, compress) => {
    const headers = { 'Content-Type': 'text/plain', 'Content-Encoding': coding };

    it('is inflated', async () => {
      expect(await post(headers, compress(Buffer.from('x'.repeat(5000))))).toMatchObject({ data: 'x'.repeat(5000) });
    });

    it('may not inflate to more than MAX_REQUEST_BYTES', async () => {
      const body = compress(Buffer.alloc(50_000_000));
      const started = process.memoryUsage().rss;
      const small = body.length < 5000 ? body : body.subarray(0, 5000);
      const answer = await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: small });
      expect(answer.status).toBe(413);
      expect(process.memoryUsage().rss - started).toBeLessThan(30_000_000);
    });
  });
});
