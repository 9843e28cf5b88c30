import * as iconv from 'iconv-lite';
import { newestEvents, post } from '../support/bindings';
import { forgetAll } from '../support/events';
import { send, type Question } from '../support/http';
import { useService } from '../support/service';

describe('the payload of HTTP POST', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));

  it.each([
    ['windows-1252', '€ ž'],
    ['shift_jis', '日本語'],
    ['utf-16', 'é \u{1F600}'],
  ])('is decoded as %s if the content type says so', async (charset, text) => {
    const type = `text/plain; charset="${charset}"`;
    await post(service.url, iconv.encode(text, charset), { 'Content-Type': type });
    const json = iconv.encode(JSON.stringify({ text }), charset);
    await post(service.url, json, { 'Content-Type': `application/json; charset=${charset}` });
    expect(await newestEvents(service.url)).toMatchObject([{ data: text, datacontenttype: type }, { data: { text } }]);
  });

  it('is not dropped with GET: RecordEvent refuses a body that is not empty', async () => {
    const get = (path: string, question: Question = {}) => send(service.url + path, question);
    const refused = await get('/RecordEvent?a=1', { body: '{"b":2}' });
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('Send it with POST.')]);
    expect(await newestEvents(service.url)).toEqual([]);
    expect((await get('/HelloWorld', { body: 'x' })).status).toBe(200);
    expect((await get('/RecordEvent?a=1', { headers: { 'Transfer-Encoding': 'chunked' } })).status).toBe(200);
  });

  it('is the query string if there is no body', async () => {
    await send(`${service.url}/RecordEvent?a=1&a=2`, { method: 'POST', body: '' });
    expect(await newestEvents(service.url)).toMatchObject([{ data: { a: ['1', '2'] } }]);
  });
});
