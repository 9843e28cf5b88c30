import { createHmac } from 'node:crypto';
import { Sender } from '../../src/senders/sender';
import { callOperation, requestOf, type BindingName } from '../support/bindings';
import { forgetAll } from '../support/events';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';

const KEY = 'record-key-0123456789';
const SECRETS = {
  WEBHOOK_SECRETS: `whsec_${Buffer.alloc(24, 'k').toString('base64')},the-secret-of-GitHub-16`,
  STRIPE_SECRETS: 'whsec_test_secret_of_an_endpoint',
  SHOPIFY_SECRETS: 'hush-of-an-app-16',
  SLACK_SECRETS: '8f742231b10e8888abcd99yyyzzz85a5',
  GITLAB_TOKENS: 'token-of-a-project',
};
const [STANDARD = '', GITHUB = ''] = SECRETS.WEBHOOK_SECRETS.split(',');

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text);
const now = () => String(Math.floor(Date.now() / 1000));

type Fields = Record<string, string>;

interface Delivery {
  readonly name: string;
  readonly type: string;
  readonly body: string;
  /** What the sender sends beside the body; `id` is that of the delivery, where it is not in the body. */
  readonly fields: (body: string, id?: string) => Fields;
  /** A body with another id in it, where the id is there. */
  readonly other?: string;
}

const standard =
  (prefix: string) =>
  (body: string, id = 'msg_1') =>
    Object.fromEntries(
      Object.entries(Sender.standardHeaders([STANDARD], id, Buffer.from(body))).map(
        ([name, value]) => [name.replace('webhook', prefix), value] as const,
      ),
    );

const DELIVERIES: readonly Delivery[] = [
  { name: 'Standard Webhooks', type: 'a.b', body: '{"type":"a.b"}', fields: standard('webhook') },
  { name: 'Svix', type: 'a.b', body: '{"type":"a.b"}', fields: standard('svix') },
  {
    name: 'GitHub',
    type: 'com.github.push',
    body: '{"ref":"main"}',
    fields: (body, id = '1') => ({
      'X-GitHub-Event': 'push',
      'X-GitHub-Delivery': id,
      'X-GitHub-Hook-ID': '7',
      'X-Hub-Signature-256': `sha256=${hmac(GITHUB, body).digest('hex')}`,
    }),
  },
  {
    name: 'GitLab',
    type: 'com.gitlab.push',
    body: '{"ref":"main"}',
    fields: (_body, id = '1') => ({
      'X-Gitlab-Event': 'Push Hook',
      'X-Gitlab-Event-UUID': 'one-for-recursive-webhooks',
      'Idempotency-Key': id,
      'X-Gitlab-Token': SECRETS.GITLAB_TOKENS,
    }),
  },
  {
    name: 'Stripe',
    type: 'com.stripe.invoice.paid',
    body: '{"id":"evt_1","type":"invoice.paid"}',
    other: '{"id":"evt_2","type":"invoice.paid"}',
    fields: (body) => {
      const time = now();
      return { 'Stripe-Signature': `t=${time},v1=${hmac(SECRETS.STRIPE_SECRETS, `${time}.${body}`).digest('hex')}` };
    },
  },
  {
    name: 'Shopify',
    type: 'com.shopify.orders.create',
    body: '{"id":1}',
    fields: (body, id = '1') => ({
      'X-Shopify-Topic': 'orders/create',
      'X-Shopify-Webhook-Id': id,
      'X-Shopify-Event-Id': 'one-for-several-webhooks',
      'X-Shopify-Hmac-Sha256': hmac(SECRETS.SHOPIFY_SECRETS, body).digest('base64'),
    }),
  },
  {
    name: 'Slack',
    type: 'webhook.recorded',
    body: '{"event_id":"Ev1"}',
    other: '{"event_id":"Ev2"}',
    fields: slack,
  },
  {
    name: 'Slack (a command)',
    type: 'com.slack.command',
    body: 'command=%2Fa&trigger_id=1',
    other: 'command=%2Fa&trigger_id=2',
    fields: slack,
  },
];

function slack(body: string): Fields {
  const time = now();
  const signature = hmac(SECRETS.SLACK_SECRETS, `v0:${time}:${body}`).digest('hex');
  return { 'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${signature}` };
}

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
  ['a valid key', { 'X-API-Key': KEY }],
];

let service: TestService;
beforeAll(async () => {
  service = await startService({ ...SECRETS, RECORD_KEYS: KEY });
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

describe.each(DELIVERIES)('a signed delivery of $name', ({ name, type, body, other, fields }) => {
  const isOwn = (field: string) => Object.keys(fields(body)).some((own) => own.toLowerCase() === field.toLowerCase());
  const contentType = {
    'Content-Type': body.startsWith('{') ? 'application/json' : 'application/x-www-form-urlencoded',
  };
  const post = async (headers: Fields, text = body) => {
    const answer = await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body: text });
    expect(answer.status).toBe(200);
    // Slack shows the answer to the person who typed the command: to a form it is empty.
    if (name === 'Slack (a command)') return 'recorded';
    expect(answer.body).toContain('<string');
    return answer.body;
  };
  const deliver = (added: Fields = {}, id?: string, text = body) =>
    post({ ...contentType, ...fields(text, id), ...added }, text);
  const recorded = async () =>
    (await service.log.scan({ after: 0, limit: 100 })).map(({ attributes, arrival }) => {
      const { type, source, id } = JSON.parse(attributes) as Readonly<Record<string, string>>;
      return { type, source, id, ...(JSON.parse(arrival) as { signedBy?: string }) };
    });

  const others = ADDED.filter(([, added]) => !Object.keys(added).some(isOwn) || 'Content-Type' in added);

  it.each(others)('is recorded once and as what it is, also with %s', async (_what, added) => {
    const first = await deliver(added);
    expect([await deliver(), await deliver(added)]).toEqual([first, first]);
    const signedBy = name.replace(/ \(.*/, '');
    expect(await recorded()).toMatchObject([{ type, source: new URL(service.url).pathname, signedBy }]);
    expect((await recorded())[0]?.id).not.toBe('added');
  });

  it('is recorded whatever a holder of a key sent before it, over every binding', async () => {
    const unsigned = Object.entries(fields(body)).filter(([field]) => !/signature|token|hmac/i.test(field));
    const copy = { ...Object.fromEntries(unsigned), 'X-API-Key': KEY, 'webhook-id': 'msg_1' };
    await post({ ...contentType, ...copy });
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
    await deliver({}, 'another', other);
    expect(await recorded()).toHaveLength(2);
    if (name !== 'GitHub') return;
    expect(await deliver({ 'X-GitHub-Hook-ID': '8' })).not.toBe(first);
    expect(await deliver()).toBe(first);
    expect(await recorded()).toHaveLength(3);
  });

  it('is recorded once over SOAP too, and no field makes something else of it', async () => {
    for (const binding of ['soap11', 'soap12'] as const) {
      const { path, body: message = '', ...question } = requestOf(binding, 'RecordEvent', '<order>19</order>');
      const headers = { ...question.headers, ...fields(message.toString(), binding) };
      const added = Object.assign({}, ...ADDED.slice(0, 7).map(([, all]) => all)) as Fields;
      const call = async (more: Fields) =>
        (await send(service.url + path, { ...question, body: message, headers: { ...more, ...headers } })).status;
      expect([await call({}), await call(added)]).toEqual([200, 200]);
    }
    // A SOAP message has no id where Stripe has it.
    const times = name === 'Stripe' ? 4 : 2;
    const events = await recorded();
    expect(events).toHaveLength(times);
    expect(new Set(events.map(({ source }) => source)).size).toBe(1);
  });
});

it('without secrets a delivery is a CloudEvent where its header fields say so', async () => {
  const open = await startService();
  const [, cloudEvent] = ADDED.find(([what]) => what === 'a CloudEvent') ?? [];
  for (const { fields, body } of [...DELIVERIES, ...DELIVERIES]) {
    const headers = { 'Content-Type': 'application/json', ...fields(body), ...cloudEvent };
    const answer = await send(`${open.url}/RecordEvent`, { method: 'POST', headers, body });
    expect(answer.body).toContain('>added<');
  }
  expect(await open.log.stats()).toMatchObject({ events: 1 });
  await open.stop();
});
