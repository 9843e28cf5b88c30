import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';

const FORM = 'application/x-www-form-urlencoded';

describe('the answer to a webhook', () => {
  let service: TestService | undefined;

  const post = (headers: Record<string, string>, body: string, path = 'RecordEvent'): Promise<Answer> =>
    send(`${String(service?.url)}/${path}`, { method: 'POST', headers, body });

  const recorded = async (): Promise<unknown> =>
    JSON.parse((await send(`${String(service?.url)}/GetEvents`, { headers: { accept: 'application/json' } })).body);

  it.each(['command=%2Fhook&text=17', 'payload=%7B%22type%22%3A%22view_submission%22%7D'])(
    "is empty for Slack's form %s, which is recorded",
    async (form) => {
      service = await startService();
      const slack = { 'x-slack-signature': 'v0=00', 'content-type': FORM };
      const { status, headers, body } = await post(slack, form);
      expect([status, headers['content-length'], body]).toEqual([200, '0', '']);
      expect((await post({ 'content-type': FORM }, form)).body).toContain('<string xmlns');
      expect((await post({ ...slack, 'content-type': 'application/json' }, '{"event_id":"Ev1"}')).body).toContain(
        '<string',
      );
      expect(await recorded()).toHaveLength(3);
    },
  );

  it('is 204 without a body with RECORD_ANSWER=empty, over POST alone, unless it is refused', async () => {
    service = await startService({ RECORD_ANSWER: 'empty', SENDER_HANDSHAKES: 'slack' });
    const { status, headers, body } = await post({ 'content-type': FORM, accept: 'application/json' }, 'Body=hello');
    expect([status, headers['content-type'], headers['content-length'], body]).toEqual([204, undefined, undefined, '']);
    expect((await send(`${service.url}/RecordEvent?a=1`)).body).toContain('<string xmlns');
    expect((await post({ 'content-type': FORM }, '', 'HelloWorld')).body).toContain('Hello World');
    const json = { 'content-type': 'application/json' };
    const question = await post(json, '{"type":"url_verification","challenge":"c"}');
    expect([question.status, question.body]).toEqual([200, '{"challenge":"c"}']);
    const refused = await post({ 'content-type': 'application/cloudevents+json' }, '{}');
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('CloudEvent')]);
    expect(await recorded()).toHaveLength(3);
  });
});
