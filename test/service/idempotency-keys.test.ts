import { join } from 'node:path';
import { openSqliteLog } from '../../src/log/sqlite/event-log';
import { BINDINGS, requestOf, resultOf, type BindingName } from '../support/bindings';
import { forgetAll } from '../support/events';
import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';
import { temporaryFolder } from '../support/temporary-folder';

const REUSED =
  'The Idempotency-Key was sent before with another type or other data. Nothing was recorded. ' +
  'Send each event with a key of its own.';

describe('an Idempotency-Key', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: TestService;
  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startService({}, await openSqliteLog({ file: join(folder.path, 'events.db') }));
  });
  afterEach(() => forgetAll(service.log));
  afterAll(async () => {
    await folder.remove();
  });

  /** Records an event whose data holds an order, over any binding. */
  const record = (binding: BindingName, order: number, headers: Record<string, string>): Promise<Answer> => {
    const field = `order=${String(order)}`;
    const { path, ...question } = requestOf(binding, 'RecordEvent', `<order>${String(order)}</order>`);
    const body = binding === 'httppost' ? field : question.body;
    const url = `${service.url}${path}${binding === 'httpget' ? field : ''}`;
    return send(url, {
      ...question,
      ...(body === undefined ? {} : { body }),
      headers: { ...question.headers, ...headers },
    });
  };
  const post = (headers: Record<string, string>, body: object) =>
    send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: JSON.stringify(body) });
  const recorded = async () => (await service.log.stats()).events;

  it.each(BINDINGS)(
    'over %s leads to the first event with the same data, and with other data is refused',
    async (binding) => {
      const headers = { 'Idempotency-Key': 'k' };
      const first = resultOf(await record(binding, 1, headers));
      expect(
        resultOf(await record(binding, 1, { ...headers, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00` })),
      ).toBe(first);
      const refused = await record(binding, 2, headers);
      expect(refused.body).toContain(REUSED);
      expect(refused.status).toBe(binding.startsWith('soap') ? 500 : 422);
      if (binding === 'soap11') expect(refused.body).toContain('<faultcode>soap:Client</faultcode>');
      if (binding === 'soap12') expect(refused.body).toMatch(/<soap:Value[^>]*>soap:Sender</);
      expect(resultOf(await record(binding, 1, headers))).toBe(first);
      expect(await recorded()).toBe(1);
    },
  );

  it('is refused in problem details where the caller asks for JSON', async () => {
    const headers = { 'Idempotency-Key': 'k', 'Content-Type': 'application/json', Accept: 'application/json' };
    await post(headers, { a: 1 });
    const { status, body } = await post(headers, { a: 2 });
    expect([status, JSON.parse(body)]).toEqual([422, expect.objectContaining({ status: 422, detail: REUSED })]);
  });

  it.each(['Idempotency-Key', 'webhook-id'])('(or a %s) counts for one source', async (name) => {
    const event = { specversion: '1.0', type: 'order.paid' };
    const structured = { 'Content-Type': 'application/cloudevents+json', [name]: '1' };
    const from = (source: string, id: string) => post(structured, { ...event, source, id, data: id });
    for (const source of ['/shop', '/billing']) expect(resultOf(await from(source, source))).toBe(source);
    expect((await post({ 'Content-Type': 'application/json', [name]: '1' }, {})).status).toBe(200);
    expect(await recorded()).toBe(3);
    // The same key from the same source, of another event: an Idempotency-Key promises that it is none, the id of a delivery does not.
    for (let times = 0; times < 2; times++)
      expect((await from('/shop', 'another')).status).toBe(name === 'webhook-id' ? 200 : 422);
    expect(await recorded()).toBe(name === 'webhook-id' ? 4 : 3);
  });

  it('that many send at the same moment with different data is that of one event', async () => {
    const orders = Array.from({ length: 40 }, (_, i) => i % 4);
    const answers = await Promise.all(orders.map((order) => record('httppost', order, { 'Idempotency-Key': 'k' })));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(10);
    expect(new Set(taken.map(({ body }) => body)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(30);
    expect(await recorded()).toBe(1);
  });

  it('that a sender sends without data twice leads to the first event over every binding', async () => {
    const ids = new Set<string>();
    for (const binding of BINDINGS) {
      const { path, ...question } = requestOf(binding, 'RecordEvent');
      ids.add(
        resultOf(
          await send(service.url + path, { ...question, headers: { ...question.headers, 'Idempotency-Key': 'k' } }),
        ),
      );
    }
    expect(ids.size).toBe(1);
  });
});
