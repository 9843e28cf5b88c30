import { ask, callOperation, newestEvents, post, resultOf } from '../support/bindings';
import type { Answer } from '../support/http';
import { expectNothingHeldAfterEach } from '../support/nothing-held';
import { startService, type TestService } from '../support/service';

const KEY = 'key-of-the-shop-00';
const BATCH = 'application/cloudevents-batch+json';
const event = (id: string, more: object = {}) => ({
  specversion: '1.0',
  id,
  source: '/orders',
  type: 'order',
  ...more,
});

describe('a batch of CloudEvents', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService({ GET_EVENTS_LIMIT: '10000', GET_EVENTS_MAX_BYTES: '10000000', TRUST_PROXY: '1' });
  });
  expectNothingHeldAfterEach();

  const send = (batch: unknown, headers: Record<string, string> = {}, { url } = service): Promise<Answer> => {
    const body = typeof batch === 'string' || batch instanceof Buffer ? batch : JSON.stringify(batch);
    return post(url, body, { 'Content-Type': BATCH, ...headers });
  };
  const record = async (...given: Parameters<typeof send>): Promise<unknown> =>
    JSON.parse(resultOf(await send(...given)));
  const events = ({ url } = service) => newestEvents(url);

  it('is recorded event by event, and answered with the ids in order', async () => {
    const batch = [
      event('1', { data: { a: [1] } }),
      event('2', { data_base64: 'AP8=', datacontenttype: 'image/png' }),
      event('3', { time: '2026-01-02T03:04:05Z', subject: 's', myext: 7 }),
    ];
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = { 'Content-Type': `${BATCH}; charset=UTF-8`, traceparent };
    expect(await record(batch, headers)).toEqual(['1', '2', '3']);
    expect(await events()).toMatchObject(batch.map((one) => ({ ...one, traceparent })));
  });

  it('may be empty', async () => {
    expect(await record(' [ ] ')).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['it is bytes that are not text', Buffer.from([255]), ''],
    [
      'one event is not valid',
      [event('1'), event('2'), event('3', { source: 'a b' }), event('')],
      "Event 3 of the batch: The CloudEvent's attribute source must be",
    ],
  ])('is refused as a whole if %s', async (_why, batch, message) => {
    const answer = await send(batch);
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining(message)]);
    expect(await events()).toEqual([]);
  });

  it('may have 10,000 events', async () => {
    expect(await record(Array.from({ length: 10_000 }, (_, i) => event(String(i))))).toHaveLength(10_000);
  });

  it('sent again is recorded once, and completed if a part was recorded before', async () => {
    await send([event('1'), event('3')]);
    const again = ['1', '2', '3', '2'];
    expect(await record(again.map((id) => event(id)))).toEqual(again);
    expect((await events()).map(({ id }) => id)).toEqual(['1', '3', '2']);
  });

  it.each(['Idempotency-Key', 'webhook-id', 'X-GitHub-Delivery'])(
    'is not taken for one event because of its %s',
    async (name) => {
      const headers = { [name]: 'same' };
      expect(await record([event('1'), event('2')], headers)).toEqual(['1', '2']);
      expect(await record([event('3'), event('2'), event('4')], headers)).toEqual(['3', '2', '4']);
      expect((await events()).map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    },
  );

  it('keeps header fields and query of its request once, so that the log grows by what was sent, and its caller without the key', async () => {
    const { url, log } = await startService({ RECORD_KEYS: `shop ${KEY}`, TRUST_PROXY: '1' });
    const long = 'x'.repeat(5000);
    const headers = { 'Content-Type': BATCH, 'X-Long': long, 'X-API-Key': KEY, 'X-Copy': `a ${KEY}` };
    const proxied = { ...headers, 'X-Forwarded-For': '192.0.2.1' };
    const body = JSON.stringify(Array.from({ length: 100 }, (_, i) => event(String(i))));
    await ask(url, 'httppost', `RecordEvent?${long}`, { headers: proxied, fields: body });
    const stored = await log.scan({ after: 0, limit: 100 });
    expect(stored.map(({ arrival }) => arrival.split(long).length - 1)).toEqual([2, ...Array<number>(99).fill(0)]);
    for (const { arrival } of stored)
      expect(JSON.parse(arrival)).toMatchObject({ remoteAddress: '192.0.2.1', keyName: 'shop' });
    expect(JSON.stringify(stored)).not.toContain(KEY);
  });

  it('can be what GetEvents of another service returned', async () => {
    const other = await startService();
    await callOperation(other.url, 'httpget', 'RecordEvent?a=%3C%26&');
    await callOperation(other.url, 'soap12', 'RecordEvent', '<x/>');
    const sent = [event('1', { data: 'x'.repeat(70_000) }), event('2', { sequence: '7', dataref: '/x' })];
    await send(sent, {}, other);
    const listed = await events(other);
    const raw = await callOperation(other.url, 'httpget', 'GetEvents');
    for (const to of [service, other]) expect(await record(raw, {}, to)).toEqual(listed.map(({ id }) => id));
    expect(await events(other)).toEqual(listed);
    const copies = await events();
    for (const [i, { sequence, binding, ...original }] of listed.entries()) {
      const name = 'sendersequence' in original ? 'sendersendersequence' : 'sendersequence';
      expect(copies[i]).toMatchObject({ ...original, [name]: sequence, senderbinding: binding });
    }
  });
});
