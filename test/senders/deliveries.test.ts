import { Arrival } from '../../src/events/arrival';
import { Secrets } from '../../src/util/secrets';
import { BINDINGS, callOperation, requestOf } from '../support/bindings';
import { DELIVERIES, ID_FIELDS, RECORD_KEY, SECRETS, typed, type Delivery, type Fields } from '../support/deliveries';
import { forgetAll } from '../support/events';
import { send } from '../support/http';
import { startService, useService } from '../support/service';

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

const service = useService({ ...SECRETS, RECORD_KEYS: RECORD_KEY, IDEMPOTENCY_FIELDS: ID_FIELDS });
beforeEach(() => {
  // Slack signs the time, and its forms have no id but what is signed: they are the same within a second only.
  jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
});
afterEach(() => forgetAll(service.log));

async function post(headers: Fields, body: string, place = '') {
  const answer = await send(`${service.url}/RecordEvent${place}`, { method: 'POST', headers, body });
  expect([answer.status, answer.body]).toEqual([200, expect.stringMatching(/^$|<string/)]);
  return answer.body;
}

/** Delivers with a signature or a key, and resolves to the answer. */
async function deliver({ event: { signedBy, sender }, fields }: Delivery, body: string, added: Fields = {}, id = '1') {
  const place = signedBy === undefined ? `?access_token=${RECORD_KEY}` : '';
  const answer = await post({ ...typed(body), ...fields(body, id), ...added }, body, place);
  // Slack shows the answer to the person who typed the command: to a form it is empty.
  return sender === 'slack' && !body.startsWith('{') ? 'recorded' : answer;
}

const recorded = async () =>
  (await service.log.scan({ after: 0, limit: 100 })).map((event) => {
    const { type, source, id } = JSON.parse(event.attributes) as Readonly<Record<string, string>>;
    return { type, source, id, ...Arrival.of(event) };
  });

describe.each(DELIVERIES)('a delivery of $what', (delivery) => {
  const { hidden, body, changed, next = body, id } = delivery;

  it('has its type, sender and signer, and all header fields but the secret ones', async () => {
    await deliver(delivery, body);
    const [event] = await recorded();
    expect(event).toMatchObject({ sender: undefined, signedBy: undefined, ...delivery.event });
    const sent = Object.keys(delivery.fields(body, '1')).map((name) => name.toLowerCase());
    expect(sent.filter((name) => event?.header(name) === undefined).sort()).toEqual([...hidden].sort());
  });

  it('is recorded once, and so is one with other data', async () => {
    const countAfter = async (...sent: readonly [body: string, added?: Fields, id?: string]) => {
      await deliver(delivery, ...sent);
      return (await recorded()).length;
    };
    expect(await countAfter(body)).toBe(1);
    expect(await countAfter(body)).toBe(id === 'none' ? 2 : 1);
    if (id === 'none') return;
    const isInData = delivery.next !== undefined && id === undefined;
    const withChanged = isInData ? 1 : 2;
    for (const sent of [changed, changed, body, changed]) expect(await countAfter(sent)).toBe(withChanged);
    expect(await countAfter(next, {}, 'another')).toBe(withChanged + 1);
  });
});

const SIGNED = DELIVERIES.filter(({ event }) => event.signedBy !== undefined);

describe.each(SIGNED)('a signed delivery of $what', (delivery) => {
  const { what, event, body, fields } = delivery;
  const own = Object.keys(fields(body, '1')).map((field) => field.toLowerCase());
  const isOwn = (field: string) => own.includes(field.toLowerCase());

  const others = ADDED.filter(
    ([added, its]) =>
      'Content-Type' in its || !(Object.keys(its).some(isOwn) || (delivery.isNamedByFields && /^the /.test(added))),
  );

  it.each(others)('is recorded once and as what it is, also with %s', async (_what, added) => {
    const first = await deliver(delivery, body, added);
    expect([await deliver(delivery, body), await deliver(delivery, body, added)]).toEqual([first, first]);
    expect(await recorded()).toMatchObject([{ ...event, source: new URL(service.url).pathname }]);
    expect((await recorded())[0]?.id).not.toBe('added');
  });

  it('is recorded whatever a holder of a key sent before it, over every binding', async () => {
    const unsigned = Object.entries(fields(body, '1')).filter(([field]) => !/signature|token|hmac/i.test(field));
    const copy = { 'webhook-id': '1', ...Object.fromEntries(unsigned), 'X-API-Key': RECORD_KEY };
    await post({ ...typed(body), ...copy }, body);
    for (const binding of BINDINGS)
      await callOperation(service.url, binding, 'RecordEvent', '', { ...copy, 'Idempotency-Key': binding });
    const before = (await recorded()).length;
    await deliver(delivery, body);
    expect((await recorded()).slice(before)).toMatchObject([{ type: event.type }]);
  });

  it('is verified, as its page says', async () => {
    await deliver(delivery, body);
    const { body: page } = await send(`${service.url}?event=${String(await service.log.newest())}`);
    expect(page).toContain('Signature verified: ');
    // The command has no signature.
    expect(page).not.toContain('would not record it again');
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
});

const KEPT = `X-Event-Key I-Twilio-Idempotency-Token PAYPAL-AUTH-ALGO PAYPAL-AUTH-VERSION X-Author X-Passage
  Idempotency-Key X-Compass-Region X-Monkey X-Authored-By Sec-WebSocket-Key X-Design`.split(/\s+/);
const NOT_KEPT = `Authorization Proxy-Authorization Cookie Cookie2 Set-Cookie X-Amzn-Oidc-Data X-WSSE
  Plaid-Verification X-API-Key X_API_KEY ApiKey X-Auth X-Auth-Token X-Gitlab-Token X-Secret X-Amz-Security-Token
  X-Goog-IAP-JWT-Assertion Ocp-Apim-Subscription-Key X-Functions-Key Password X-MS-Token-AAD-Access-Token
  X-MS-Client-Principal X-Session-ID X-CSRF-Token X-Hub-Signature`.split(/\s+/);

it('by their names header fields are kept, or may hold a secret', () => {
  const mayBeSecret = [...KEPT, ...NOT_KEPT].filter((name) => Secrets.mayBeIn(name.toLowerCase()));
  expect(mayBeSecret).toEqual(NOT_KEPT);
});
