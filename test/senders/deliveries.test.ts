import { Arrival } from '../../src/events/arrival';
import { Secrets } from '../../src/util/secrets';
import { DELIVERIES, ID_FIELDS, RECORD_KEY, SECRETS, typed, type Delivery } from '../support/deliveries';
import { forgetAll } from '../support/events';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startService({ ...SECRETS, RECORD_KEYS: RECORD_KEY, IDEMPOTENCY_FIELDS: ID_FIELDS.join(',') });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await forgetAll(service.log);
});
afterAll(() => service.stop());

/** Resolves to the number of events after a delivery, whose answer says that it was recorded. */
async function deliver({ fields, signedBy }: Delivery, body: string, id = 'an-id'): Promise<number> {
  const place = signedBy === undefined ? `?access_token=${RECORD_KEY}` : '';
  const headers = { ...typed(body), ...fields(body, id) };
  const answer = await send(`${service.url}/RecordEvent${place}`, { method: 'POST', headers, body });
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return (await service.log.stats()).events;
}

describe.each(DELIVERIES)('a delivery of $what', (delivery) => {
  const { type, sender, signedBy, hidden, body, changed, next = body, id } = delivery;

  it('has its type, sender and signer, and all header fields but the secret ones', async () => {
    await deliver(delivery, body);
    const [event] = await service.log.scan({ after: 0, limit: 1 });
    if (event === undefined) throw new Error('nothing was recorded');
    expect(JSON.parse(event.attributes)).toMatchObject({ type });
    const arrival = new Arrival(event);
    expect([arrival.sender, arrival.signedBy]).toEqual([sender, signedBy]);
    const kept = arrival.headers.map(([name]) => name);
    const sent = Object.keys(delivery.fields(body, 'an-id')).map((name) => name.toLowerCase());
    expect(sent.filter((name) => !kept.includes(name)).sort()).toEqual([...hidden].sort());
  });

  it('is recorded once, and so is one with other data', async () => {
    // Slack signs the time, and its forms have no id but what is signed.
    jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
    expect(await deliver(delivery, body)).toBe(1);
    expect(await deliver(delivery, body)).toBe(id === 'none' ? 2 : 1);
    if (id === 'none') return;
    const isInData = delivery.next !== undefined && id === undefined;
    const withChanged = isInData ? 1 : 2;
    for (const sent of [changed, changed, body, changed]) expect(await deliver(delivery, sent)).toBe(withChanged);
    expect(await deliver(delivery, next, 'another')).toBe(withChanged + 1);
  });
});

const KEPT = [
  ...['X-Event-Key', 'I-Twilio-Idempotency-Token', 'PAYPAL-AUTH-ALGO', 'PAYPAL-AUTH-VERSION', 'X-Author', 'X-Passage'],
  ...['Idempotency-Key', 'X-Compass-Region', 'X-Monkey', 'X-Authored-By', 'Sec-WebSocket-Key', 'X-Design'],
];
const NOT_KEPT = [
  ...['Authorization', 'Proxy-Authorization', 'Cookie', 'Cookie2', 'Set-Cookie', 'X-Amzn-Oidc-Data', 'X-WSSE'],
  ...['Plaid-Verification', 'X-API-Key', 'X_API_KEY', 'ApiKey', 'X-Auth', 'X-Auth-Token', 'X-Gitlab-Token', 'X-Secret'],
  ...['X-Amz-Security-Token', 'X-Goog-IAP-JWT-Assertion', 'Ocp-Apim-Subscription-Key', 'X-Functions-Key', 'Password'],
  ...['X-MS-Token-AAD-Access-Token', 'X-MS-Client-Principal', 'X-Session-ID', 'X-CSRF-Token', 'X-Hub-Signature'],
];

it.each(KEPT)('the header field %s is kept', (name) => {
  expect(Secrets.mayBeIn(name.toLowerCase())).toBe(false);
});

it.each(NOT_KEPT)('the header field %s may hold a secret', (name) => {
  expect(Secrets.mayBeIn(name.toLowerCase())).toBe(true);
});
