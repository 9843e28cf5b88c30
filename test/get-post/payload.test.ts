import * as iconv from 'iconv-lite';
import { callOperation, eventsOf, resultOf, type CloudEvent } from '../support/bindings';
import { send, type Question } from '../support/http';
import { useService } from '../support/service';

describe('the payload of HTTP POST', () => {
  const service = useService();

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

  it('is not dropped with GET: RecordEvent refuses a body that is not empty', async () => {
    const get = (path: string, question: Question = {}) => send(service.url + path, { method: 'GET', ...question });
    const before = await service.log.stats();
    const refused = await get('/RecordEvent?a=1', { body: '{"b":2}' });
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('Send it with POST.')]);
    expect(await service.log.stats()).toEqual(before);
    expect((await get('/HelloWorld', { body: 'x' })).status).toBe(200);
    expect((await get('/RecordEvent?a=1', { headers: { 'Transfer-Encoding': 'chunked' } })).status).toBe(200);
  });

  it('is the query string if there is no body', async () => {
    const answer = await send(`${service.url}/RecordEvent?a=1&a=2`, { method: 'POST', body: '' });
    const [event] = eventsOf(await callOperation(service.url, 'httpget', `GetEvents?id=${resultOf(answer)}&`));
    expect(event?.data).toEqual({ a: ['1', '2'] });
  });
});
