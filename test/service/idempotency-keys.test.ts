import { readConfig } from '../../src/config/config';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { Sender } from '../../src/senders/sender';
import { webhookService } from '../../src/service/webhook-service';
import { ask, BINDINGS, post, resultOf, type BindingName } from '../support/bindings';
import { startEndpoint } from '../support/endpoint';
import { forgetAll } from '../support/events';
import { useService, type TestService } from '../support/service';

const REUSED =
  'The Idempotency-Key was sent before with another type or other data. Nothing was recorded. ' +
  'Send each event with a key of its own.';
const KEY = { 'Idempotency-Key': 'k' };

const recorded = async ({ log }: TestService) => (await log.stats()).events;

/** Records an event whose data holds an order, under one key, over any binding. */
const record = ({ url }: TestService, binding: BindingName, order: number, headers: Record<string, string> = {}) => {
  const fields = `order=${String(order)}`;
  const inside = `<order>${String(order)}</order>`;
  return ask(url, binding, 'RecordEvent', { inside, fields, headers: { ...KEY, ...headers } });
};

describe('an Idempotency-Key', () => {
  const service = useService();
  afterEach(() => forgetAll(service.log));

  const send = (headers: Record<string, string>, body: object) => post(service.url, JSON.stringify(body), headers);

  it.each(BINDINGS)(
    'over %s leads to the first event with the same data, and is refused with other',
    async (binding) => {
      const first = resultOf(await record(service, binding, 1));
      const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`;
      expect(resultOf(await record(service, binding, 1, { traceparent }))).toBe(first);
      const refused = await record(service, binding, 2);
      expect(refused.status).toBe(binding.startsWith('soap') ? 500 : 422);
      expect(refused.body).toContain(REUSED);
      expect(resultOf(await record(service, binding, 1))).toBe(first);
      expect(await recorded(service)).toBe(1);
    },
  );

  it('counts beside an id in the data', async () => {
    const slack = { ...KEY, 'Content-Type': 'application/json', 'X-Slack-Signature': 'v0=00' };
    const sendEvent = async (id: string) => (await send(slack, { event_id: id })).status;
    expect([await sendEvent('Ev1'), await sendEvent('Ev2')]).toEqual([200, 422]);
  });

  it.each(['Idempotency-Key', 'webhook-id'])('(or a %s) counts for one source', async (name) => {
    const structured = { 'Content-Type': 'application/cloudevents+json', [name]: '1' };
    const from = (source: string, id: string) =>
      send(structured, { specversion: '1.0', type: 'order.paid', source, id, data: id });
    for (const source of ['/shop', '/billing']) expect(resultOf(await from(source, source))).toBe(source);
    expect((await send({ 'Content-Type': 'application/json', [name]: '1' }, {})).status).toBe(200);
    expect(await recorded(service)).toBe(3);
    // The same key from the same source, of another event: an Idempotency-Key promises that it is none, the id of a delivery does not.
    for (let times = 0; times < 2; times++)
      expect((await from('/shop', 'another')).status).toBe(name === 'webhook-id' ? 200 : 422);
    expect(await recorded(service)).toBe(name === 'webhook-id' ? 4 : 3);
  });
});

it('a webhook-id that comes with different data is told to the operator', async () => {
  const log = openMemoryLog();
  const { url, hints } = await startEndpoint(webhookService(log, readConfig({}), 60_000));
  for (const n of [1, 1, 2]) await post(url, String(n), { 'webhook-id': 'msg_1' });
  expect(hints).toEqual([
    { key: 'delivery-id', message: expect.stringContaining('come with one id, msg_1,') as string },
  ]);
  await log.close();
});

describe('where callers have keys of their own', () => {
  const KEYS = {
    shop: 'key-of-the-shop-00',
    billing: 'key-of-billing-000',
    unnamed: 'unnamed-key-000001',
    other: 'unnamed-key-000002',
  };
  const SECRETS = ['a', 'b'].map((letter) => `whsec_${Buffer.alloc(24, letter).toString('base64')}`);
  const service = useService({
    RECORD_KEYS: `shop ${KEYS.shop},billing ${KEYS.billing},${KEYS.unnamed},${KEYS.other}`,
    WEBHOOK_SECRETS: SECRETS.join(),
  });
  afterEach(() => forgetAll(service.log));

  it.each(['webhook', 'svix'])('a %s-id that two secrets sign is that of two deliveries', async (prefix) => {
    const [a = '', b = ''] = SECRETS;
    const deliver = async (secret: string, body: string) => {
      const signed = Object.entries(Sender.standardSignature.sign('msg_1', Buffer.from(body), [secret]));
      const headers = Object.fromEntries(signed.map(([name, value]) => [name.replace('webhook', prefix), value]));
      return resultOf(await post(service.url, body, headers));
    };
    const three = async () => [await deliver(a, '{"n":1}'), await deliver(b, '{"n":1}'), await deliver(b, '{"n":2}')];
    const first = await three();
    expect(new Set(first).size).toBe(3);
    expect(await three()).toEqual(first);
    expect(await deliver(a, '{"n":2}')).not.toBe(first[2]);
    expect(await recorded(service)).toBe(4);
  });

  it('an id in the data is that of its caller, whatever else in the data changes', async () => {
    const deliver = async (caller: keyof typeof KEYS, body: object) => {
      const stripe = { 'Content-Type': 'application/json', 'Stripe-Signature': 't=1', 'X-API-Key': KEYS[caller] };
      return resultOf(await post(service.url, JSON.stringify(body), stripe));
    };
    const three = async (pending: number) => [
      await deliver('shop', { id: 'evt_1', pending }),
      await deliver('billing', { id: 'evt_1', pending }),
      await deliver('unnamed', { id: 'evt_1', pending }),
    ];
    const first = await three(2);
    expect(new Set(first).size).toBe(3);
    expect(await three(1)).toEqual(first);
    expect(await recorded(service)).toBe(3);
  });

  const recordAs = async (caller: keyof typeof KEYS, order: number, binding: BindingName) => {
    const answer = await record(service, binding, order, { 'X-API-Key': KEYS[caller] });
    return answer.status === 200 ? resultOf(answer) : answer.status;
  };

  it.each(BINDINGS)(
    'an Idempotency-Key over %s is that of the name of its key; keys without a name share one',
    async (binding) => {
      const refused = binding.startsWith('soap') ? 500 : 422;
      for (const callers of [
        ['shop', 'unnamed', 'billing', 'other'],
        ['other', 'shop', 'billing', 'unnamed'],
      ] as const) {
        const ids = new Map<string, unknown>();
        for (const caller of callers) ids.set(caller, await recordAs(caller, 1, binding));
        expect([new Set(ids.values()).size, ids.get('other')]).toEqual([3, ids.get('unnamed')]);
        for (const caller of callers) {
          expect(await recordAs(caller, 1, binding)).toBe(ids.get(caller));
          expect(await recordAs(caller, 2, binding)).toBe(refused);
        }
        expect(await recorded(service)).toBe(3);
        await forgetAll(service.log);
      }
    },
  );
});
