import { Sender } from '../../src/senders/sender';
import { BINDINGS, requestOf, resultOf } from '../support/bindings';
import { forgetAll } from '../support/events';
import { send } from '../support/http';
import { useService } from '../support/service';

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

const recorded = async () => (await service.log.stats()).events;

describe.each(['webhook', 'svix'])('a %s-id', (prefix) => {
  /** Sends a message of the sender with a secret; resolves to the id of its event. */
  const deliver = async (secret: string, body: string) => {
    const signed = Object.entries(Sender.standardHeaders([secret], 'msg_1', Buffer.from(body)));
    const headers = Object.fromEntries(signed.map(([name, value]) => [name.replace('webhook', prefix), value]));
    return resultOf(await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body }));
  };

  it('that two secrets sign is that of two deliveries', async () => {
    const [a = '', b = ''] = SECRETS;
    const first = [await deliver(a, '{"n":1}'), await deliver(b, '{"n":1}'), await deliver(b, '{"n":2}')];
    expect(new Set(first).size).toBe(3);
    expect([await deliver(a, '{"n":1}'), await deliver(b, '{"n":1}'), await deliver(b, '{"n":2}')]).toEqual(first);
    expect(await deliver(a, '{"n":2}')).not.toBe(first[2]);
    expect(await recorded()).toBe(4);
  });
});

describe('the scope of an Idempotency-Key', () => {
  const record = async (caller: keyof typeof KEYS, order: number, binding: (typeof BINDINGS)[number] = 'httppost') => {
    const { path, ...question } = requestOf(binding, 'RecordEvent', `<order>${String(order)}</order>`);
    const field = `order=${String(order)}`;
    const body = binding === 'httppost' ? field : question.body;
    const answer = await send(`${service.url}${path}${binding === 'httpget' ? field : ''}`, {
      ...question,
      ...(body === undefined ? {} : { body }),
      headers: { ...question.headers, 'X-API-Key': KEYS[caller], 'Idempotency-Key': 'k' },
    });
    return answer.status === 200 ? resultOf(answer) : answer.status;
  };

  it.each(BINDINGS)(
    'over %s is the name of the key, whoever comes first; keys without a name share one',
    async (binding) => {
      const refused = binding.startsWith('soap') ? 500 : 422;
      for (const callers of [
        ['shop', 'unnamed', 'billing'],
        ['other', 'shop', 'billing'],
      ] as const) {
        const first = [];
        for (const caller of callers) first.push(await record(caller, 1, binding));
        expect(new Set(first).size).toBe(3);
        for (const [i, caller] of callers.entries()) {
          expect(await record(caller, 1, binding)).toBe(first[i]);
          expect(await record(caller, 2, binding)).toBe(refused);
        }
        const shared = first[callers.findIndex((caller) => caller === 'unnamed' || caller === 'other')];
        expect([await record('unnamed', 1, binding), await record('other', 1, binding)]).toEqual([shared, shared]);
        expect([await record('unnamed', 2, binding), await record('other', 2, binding)]).toEqual([refused, refused]);
        expect(await recorded()).toBe(3);
        await forgetAll(service.log);
      }
    },
  );

  it('is that of each of many callers at the same moment', async () => {
    const callers = (['shop', 'billing', 'unnamed', 'other'] as const).flatMap(
      (name) => Array(10).fill(name) as (typeof name)[],
    );
    const ids = await Promise.all(callers.map((caller) => record(caller, 1)));
    expect(new Set(ids).size).toBe(3);
    for (const caller of ['shop', 'billing', 'unnamed'] as const)
      expect(new Set(ids.filter((_id, i) => callers[i] === caller)).size).toBe(1);
    expect(await recorded()).toBe(3);
  });
});
