import { newestEvents, post } from '../support/bindings';
import { send } from '../support/http';
import { startService } from '../support/service';

const FORM = 'application/x-www-form-urlencoded';

describe('the answer to a webhook', () => {
  it.each(['command=%2Fhook&text=17', 'payload=%7B%22type%22%3A%22view_submission%22%7D'])(
    "is empty for Slack's form %s, which is recorded",
    async (form) => {
      const { url } = await startService();
      const slack = { 'x-slack-signature': 'v0=00', 'content-type': FORM };
      const { status, headers, body } = await post(url, form, slack);
      expect([status, headers['content-length'], body]).toEqual([200, '0', '']);
      expect((await post(url, form, { 'content-type': FORM })).body).toContain('<string xmlns');
      const json = { ...slack, 'content-type': 'application/json' };
      expect((await post(url, '{"event_id":"Ev1"}', json)).body).toContain('<string');
      expect(await newestEvents(url)).toHaveLength(3);
    },
  );

  it('is 204 without a body with RECORD_ANSWER=empty, over POST alone, unless it is refused', async () => {
    const { url } = await startService({ RECORD_ANSWER: 'empty', SENDER_HANDSHAKES: 'slack' });
    const answer = await post(url, 'Body=hello', { 'content-type': FORM, accept: 'application/json' });
    const { 'content-type': type, 'content-length': length } = answer.headers;
    expect([answer.status, type, length, answer.body]).toEqual([204, undefined, undefined, '']);
    expect((await send(`${url}/RecordEvent?a=1`)).body).toContain('<string xmlns');
    expect((await send(`${url}/HelloWorld`, { method: 'POST' })).body).toContain('Hello World');
    const json = { 'content-type': 'application/json' };
    const question = await post(url, '{"type":"url_verification","challenge":"c"}', json);
    expect([question.status, question.body]).toEqual([200, '{"challenge":"c"}']);
    const refused = await post(url, '{}', { 'content-type': 'application/cloudevents+json' });
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('CloudEvent')]);
    expect(await newestEvents(url)).toHaveLength(3);
  });
});

it('a payload is not dropped with GET: RecordEvent refuses a body that is not empty', async () => {
  const { url } = await startService();
  const refused = await send(`${url}/RecordEvent?a=1`, { body: '{"b":2}' });
  expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('Send it with POST.')]);
  expect(await newestEvents(url)).toEqual([]);
  expect((await send(`${url}/HelloWorld`, { body: 'x' })).status).toBe(200);
  expect((await send(`${url}/RecordEvent?a=1`, { headers: { 'Transfer-Encoding': 'chunked' } })).status).toBe(200);
});
