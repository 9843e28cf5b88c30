import { callOperation, requestOf, type BindingName } from '../support/bindings';
import { DELIVERIES, ID_FIELDS, RECORD_KEY, SECRETS, typed, type Fields } from '../support/deliveries';
import { forgetAll } from '../support/events';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';

/** Fields that nobody signs, and that decide about an event without a signature. */
const ADDED: readonly (readonly [string, Fields])[] = [
  ['a webhook-id', { 'webhook-id': 'added' }],
  ['a svix-id', { 'svix-id': 'added' }],
  ['an Idempotency-Key', { 'Idempotency-Key': 'added' }],
  ['the event of GitHub', { 'X-GitHub-Event': 'added', 'X-GitHub-Delivery': 'added' }],
  ['the event of GitLab', { 'X-Gitlab-Event': 'Added Hook' }],
  ['the topic of Shopify', { 'X-Shopify-Topic': 'added', 'X-Shopify-Webhook-Id': 'added' }],
  ['a CloudEvent', { 'ce-specversion': '1.0', 'ce-id': 'added', 'ce-source': '/added', 'ce-type': 'added' }],
  ['another content type', { 'Content-Type': 'text/plain' }],
  ['another character set', { 'Content-Type': 'application/json; charset=utf-16le' }],
  ['a valid key', { 'X-API-Key': RECORD_KEY }],
];

let service: TestService;
beforeAll(async () => {
  service = await startService({ ...SECRETS, RECORD_KEYS: RECORD_KEY, IDEMPOTENCY_FIELDS: ID_FIELDS.join(',') });
});
beforeEach(() => {
  // Slack signs the time, so its requests are the same within a second only.
  jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await forgetAll(service.log);
});
afterAll(() => service.stop());

const SIGNED = DELIVERIES.flatMap(({ signedBy, ...delivery }) =>
  signedBy === undefined ? [] : [{ ...delivery, signedBy }],
);

describe.each(SIGNED)('a signed delivery of $what', (delivery) => {
  const { what, type, signedBy, body, next = body } = delivery;
  const fields = (text: string, id = '1') => delivery.fields(text, id);
  const isOwn = (field: string) => Object.keys(fields(body)).some((own) => own.toLowerCase() === field.toLowerCase());
  const post = async (headers: Fields, text = body) => {
    const answer = await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: text });
    expect(answer.status).toBe(200);
    // Slack shows the answer to the person who typed the command: to a form it is empty.
    if (delivery.sender === 'slack' && !body.startsWith('{')) return 'recorded';
    expect(answer.body).toContain('<string');
    return answer.body;
  };
  const deliver = (added: Fields = {}, id?: string, text = body) =>
    post({ ...typed(text), ...fields(text, id), ...added }, text);
  const recorded = async () =>
    (await service.log.scan({ after: 0, limit: 100 })).map(({ attributes, arrival }) => {
      const { type, source, id } = JSON.parse(attributes) as Readonly<Record<string, string>>;
      return { type, source, id, ...(JSON.parse(arrival) as { signedBy?: string }) };
    });

  const others = ADDED.filter(
    ([added, its]) =>
      'Content-Type' in its || !(Object.keys(its).some(isOwn) || (delivery.isNamedByFields && /^the /.test(added))),
  );

  it.each(others)('is recorded once and as what it is, also with %s', async (_what, added) => {
    const first = await deliver(added);
    expect([await deliver(), await deliver(added)]).toEqual([first, first]);
    expect(await recorded()).toMatchObject([{ type, source: new URL(service.url).pathname, signedBy }]);
    expect((await recorded())[0]?.id).not.toBe('added');
  });

  it('is recorded whatever a holder of a key sent before it, over every binding', async () => {
    const unsigned = Object.entries(fields(body)).filter(([field]) => !/signature|token|hmac/i.test(field));
    const copy = { 'webhook-id': '1', ...Object.fromEntries(unsigned), 'X-API-Key': RECORD_KEY };
    await post({ ...typed(body), ...copy });
    for (const binding of ['soap11', 'soap12', 'httpget', 'httppost'] satisfies BindingName[])
      await callOperation(service.url, binding, 'RecordEvent', '', { ...copy, 'Idempotency-Key': binding });
    const before = (await recorded()).length;
    await deliver();
    expect((await recorded()).slice(before)).toMatchObject([{ type }]);
  });

  it('is told from its next one, and its page says so', async () => {
    const first = await deliver();
    const { body: page } = await send(`${service.url}?event=${String((await service.log.stats()).last)}`);
    expect(page).toContain('Signature verified: ');
    // The command has no signature.
    expect(page).not.toContain('would not record it again');
    await deliver({}, 'another', next);
    expect(await recorded()).toHaveLength(2);
    if (what !== 'GitHub: push') return;
    expect(await deliver({ 'X-GitHub-Hook-ID': '8' })).not.toBe(first);
    expect(await deliver()).toBe(first);
    expect(await recorded()).toHaveLength(3);
  });

  it('is recorded once over SOAP too, and no field makes something else of it', async () => {
    for (const binding of ['soap11', 'soap12'] as const) {
      const { path, body: message = '', ...question } = requestOf(binding, 'RecordEvent', '<order>19</order>');
      const headers = { ...question.headers, ...fields(message.toString(), binding) };
      const added = Object.assign({}, ...others.map(([, its]) => its)) as Fields;
      const call = async (more: Fields) =>
        (await send(service.url + path, { ...question, body: message, headers: { ...more, ...headers } })).status;
      expect([await call({}), await call(added)]).toEqual([200, 200]);
    }
    // A SOAP message has no id where Stripe has it.
    const times = what === 'Stripe' ? 4 : 2;
    const events = await recorded();
    expect(events).toHaveLength(times);
    expect(new Set(events.map(({ source }) => source)).size).toBe(1);
  });
});

it('without secrets a delivery is a CloudEvent where its header fields say so', async () => {
  const open = await startService();
  const [, cloudEvent] = ADDED.find(([what]) => what === 'a CloudEvent') ?? [];
  for (const { what, fields, body } of [...SIGNED, ...SIGNED]) {
    const headers = { 'Content-Type': 'application/json', ...fields(body, what), ...cloudEvent };
    const answer = await send(`${open.url}/RecordEvent`, { method: 'POST', headers, body });
    expect(answer.body).toContain('>added<');
  }
  expect(await open.log.stats()).toMatchObject({ events: 1 });
  await open.stop();
});
