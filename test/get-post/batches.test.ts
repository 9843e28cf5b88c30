import { callOperation, eventsOf, resultOf, type CloudEvent } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { expectNothingHeld } from '../support/nothing-held';
import { startService, type TestService } from '../support/service';

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
    service = await startService({ GET_EVENTS_LIMIT: '10000', GET_EVENTS_MAX_BYTES: '10000000' });
  });
  afterEach(() => expectNothingHeld(service));

  const post = (url: string, batch: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const body = typeof batch === 'string' || batch instanceof Buffer ? batch : JSON.stringify(batch);
    return send(`${url}/RecordEvent`, { method: 'POST', headers: { 'Content-Type': BATCH, ...headers }, body });
  };
  const idsOf = (answer: Answer): unknown => JSON.parse(resultOf(answer));
  const events = async (url = service.url): Promise<CloudEvent[]> =>
    eventsOf(await callOperation(url, 'httpget', 'GetEvents'));

  it('is recorded event by event, and answered with the ids in order', async () => {
    const batch = [
      event('1', { data: { a: [1] } }),
      event('2', { data_base64: 'AP8=', datacontenttype: 'image/png' }),
      event('3', { time: '2026-01-02T03:04:05Z', subject: 's', myext: 7 }),
    ];
    const answer = await post(service.url, batch, { 'Content-Type': `${BATCH}; charset=UTF-8` });
    expect([answer.status, idsOf(answer)]).toEqual([200, ['1', '2', '3']]);
    expect(await events()).toMatchObject(batch);
  });

  it('may be empty', async () => {
    expect(idsOf(await post(service.url, ' [ ] '))).toEqual([]);
    expect(await events()).toEqual([]);
  });

  it('is refused as a whole if one event is not valid, naming it', async () => {
    const answer = await post(service.url, [event('1'), event('2'), event('3', { source: 'a b' }), event('')]);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain("Event 3 of the batch: The CloudEvent's attribute source must be");
    expect(await events()).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['an object', event('1')],
    ['bytes that are not text', Buffer.from([255])],
  ])('is refused if it is %s', async (_what, batch) => {
    expect((await post(service.url, batch)).status).toBe(400);
    expect(await events()).toEqual([]);
  });

  it('sent again is recorded once, and completed if a part was recorded before', async () => {
    await post(service.url, [event('1'), event('3')]);
    expect(idsOf(await post(service.url, [event('1'), event('2'), event('3'), event('2')]))).toEqual([
      '1',
      '2',
      '3',
      '2',
    ]);
    expect((await events()).map(({ id }) => id)).toEqual(['1', '3', '2']);
  });

  it.each(['Idempotency-Key', 'webhook-id', 'X-GitHub-Delivery'])(
    'is not taken for one event because of its %s',
    async (name) => {
      const headers = { [name]: 'same' };
      expect(idsOf(await post(service.url, [event('1'), event('2')], headers))).toEqual(['1', '2']);
      expect(idsOf(await post(service.url, [event('3'), event('2'), event('4')], headers))).toEqual(['3', '2', '4']);
      expect((await events()).map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    },
  );

  it('of 10,000 events is recorded, of more refused', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => event(String(i)));
    expect(idsOf(await post(service.url, many))).toHaveLength(10_000);
    const answer = await post(service.url, [...many, event('x')]);
    expect([answer.status, answer.body]).toEqual([
      400,
      'The batch has more than 10000 CloudEvents. Send at most 10000 at a time.\n',
    ]);
  });

  it('keeps the header fields of its request once, so that the log grows by what was sent', async () => {
    const headers = { 'X-Long': 'x'.repeat(10_000) };
    await post(
      service.url,
      Array.from({ length: 100 }, (_, i) => event(String(i))),
      headers,
    );
    const stored = await service.log.scan({ after: 0, limit: 100 });
    expect(stored.filter(({ arrival }) => arrival.includes('xxx'))).toHaveLength(1);
    expect(stored.every(({ arrival }) => arrival.includes('"remoteAddress":"127.0.0.1"'))).toBe(true);
  });

  it('can be what GetEvents of another service returned', async () => {
    const other = await startService();
    await callOperation(other.url, 'httpget', 'RecordEvent?a=%3C%26&');
    await callOperation(other.url, 'soap12', 'RecordEvent', '<x/>');
    await post(other.url, [event('1', { data: 'x'.repeat(70_000) }), event('2', { sequence: '7', dataref: '/x' })]);
    const listed = await events(other.url);
    const raw = await callOperation(other.url, 'httpget', 'GetEvents');
    expect(idsOf(await post(service.url, raw))).toEqual(listed.map(({ id }) => id));
    expect(idsOf(await post(other.url, raw))).toEqual(listed.map(({ id }) => id));
    expect(await events(other.url)).toEqual(listed);
    const copies = await events();
    for (const [i, { sequence, binding, ...original }] of listed.entries()) {
      const names = 'sendersequence' in original ? ['sendersendersequence'] : ['sendersequence'];
      expect(copies[i]).toMatchObject({ ...original, [names[0] ?? '']: sequence, senderbinding: binding });
    }
    await other.stop();
  });
});
