import { isDeepStrictEqual } from 'node:util';
import { eventOf, type Arrival } from '../../src/events/event';

const arrival = (given: Partial<Arrival>): Arrival => ({
  binding: 'httppost',
  method: 'POST',
  target: '/x?y=1',
  headers: {},
  remoteAddress: '192.0.2.1',
  attributes: undefined,
  payload: undefined,
  ...given,
});
const defaults = { source: '/source', type: 'test.type' };

describe('an event', () => {
  it('keeps how it arrived, without what may be a secret', async () => {
    const headers = {
      host: 'x',
      'user-agent': 'curl',
      'idempotency-key': 'k',
      authorization: 'Bearer s',
      'proxy-authorization': 's',
      cookie: 's',
      'set-cookie': ['s'],
      'x-api-key': 's',
      'x-auth-token': 's',
      'ocp-apim-subscription-key': 's',
    };
    const event = await eventOf(arrival({ headers }), defaults);
    expect(JSON.parse(event.arrival)).toEqual({
      method: 'POST',
      path: '/x?y=1',
      remoteAddress: '192.0.2.1',
      headers: { host: 'x', 'user-agent': 'curl', 'idempotency-key': 'k' },
    });
    expect(event.attributes).not.toContain('192.0.2.1');
  });

  it('carries the keys by which a sender repeats itself; an empty one is none', async () => {
    const headers = { 'idempotency-key': 'k', 'webhook-id': '' };
    const event = await eventOf(arrival({ headers }), defaults);
    expect([event.idempotencyKey, event.webhookId]).toEqual(['k', undefined]);
  });

  it.each([
    [{ json: '{"a":1.0,\r\n"b":12345678901234567890}' }, '"data":{"a":1.0,  "b":12345678901234567890}'],
    [{ text: '\uD800\uFFFE\u0000"' }, '"data":"\\ud800\\ufffe\\u0000\\""'],
    [{ json: '"\uFFFF"' }, '"data":"\\uffff"'],
    [{ bytes: Buffer.from([0, 255]) }, '"data_base64":"AP8="'],
  ])('writes the payload %j as %s', async (form, member) => {
    const event = await eventOf(arrival({ payload: { mediaType: 'a/b', ...form } }), defaults);
    expect(event.data).toBe(member);
    expect(JSON.parse(event.attributes)).toMatchObject({
      datacontenttype: 'a/b',
      source: '/source',
      type: 'test.type',
    });
  });

  it.each([
    ['JSON', { json: `["\u{1F600}", ${'1,\r\n'.repeat(200_000)}"\uFFFE"]` }],
    ['text', { text: `x${'\u{1F600}\t\uFFFF'.repeat(100_000)}` + 'x'.repeat(1_000_000) }],
    ['text with half a character', { text: `\uD800${'\u0001'.repeat(300_000)}` }],
  ])('writes large %s part by part, and other calls go on', async (_kind, form) => {
    let turns = 0;
    const counter = setInterval(() => turns++, 1);
    const { data = '' } = await eventOf(arrival({ payload: { mediaType: 'a/b', ...form } }), defaults);
    clearInterval(counter);
    expect(turns).toBeGreaterThan(1);
    expect(data).not.toMatch(/[\t\r\n\uFFFE\uFFFF]|\p{Surrogate}/u);
    const said: unknown = 'text' in form ? form.text : JSON.parse(form.json);
    expect(isDeepStrictEqual(JSON.parse(`{${data}}`), { data: said })).toBe(true);
  });

  it('writes a large text as bytes where it would consist of escapes', async () => {
    const text = '\u0001\u20AC'.repeat(150_000);
    const { data } = await eventOf(arrival({ payload: { mediaType: 'text/plain', text } }), defaults);
    expect(data).toBe(`"data_base64":"${Buffer.from(text).toString('base64')}"`);
  });
});
