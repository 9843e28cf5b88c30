import { callOperation, envelope11, eventsOf, requestOf, resultOf, type BindingName } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { startService, type TestService } from '../support/service';
import { PASSWORD_DIGEST, securityHeader, usernameToken, withHeader } from '../support/wsse';

const RECORD_KEY = 'record-key-0123456789';
const NEW_RECORD_KEY = 'record-key-9876543210';
const READ_KEY = 'read-key-0123456789abc';

const basic = (password: string) => ({ Authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}` });

describe('with RECORD_KEYS and READ_KEYS', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ RECORD_KEYS: `${RECORD_KEY},${NEW_RECORD_KEY}`, READ_KEYS: READ_KEY });
  });
  afterAll(() => service.stop());

  const read = async () =>
    eventsOf(await callOperation(service.url, 'httpget', 'GetEvents', '', { 'X-API-Key': READ_KEY }));
  const sendTo = (binding: BindingName, operation: string, headers: Record<string, string>): Promise<Answer> => {
    const { path, ...question } = requestOf(binding, operation);
    return send(service.url + path, { ...question, headers: { ...question.headers, ...headers } });
  };

  describe.each(['soap11', 'soap12', 'httpget'] as const)('over %s', (binding) => {
    it('a key is taken', async () => {
      const id = await callOperation(service.url, binding, 'RecordEvent', '', basic(RECORD_KEY));
      const events = await callOperation(service.url, binding, 'GetEvents', '', { 'X-API-Key': READ_KEY });
      expect(eventsOf(events).at(-1)?.id).toBe(id);
      await callOperation(service.url, binding, 'RecordEvent', '', { Authorization: `Bearer ${NEW_RECORD_KEY}` });
    });

    it.each([
      ['no key', {}, 'RecordEvent needs a record key.'],
      ['a wrong key', { Authorization: 'Bearer not-the-key-0123456' }, 'This key may not record events.'],
      ['a key that only reads', { 'X-API-Key': READ_KEY }, 'This key may not record events.'],
    ])('%s gets 401, a challenge, and records nothing', async (_what, headers, reason) => {
      const before = (await read()).length;
      const answer = await sendTo(binding, 'RecordEvent', headers);
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Basic realm="WebHook", charset="UTF-8", Bearer realm="WebHook"');
      expect(answer.body).toContain(reason);
      if (binding === 'soap11') expect(answer.body).toContain('<faultcode>soap:Client</faultcode>');
      if (binding === 'soap12') expect(answer.body).toContain('<soap:Value>soap:Sender</soap:Value>');
      expect(await read()).toHaveLength(before);
    });
  });

  it.each(['access_token', 'access%5Ftoken', '%61ccess_token'])('a key in the address is taken as %s', async (name) => {
    const answer = await send(`${service.url}/RecordEvent?order=19&${name}=${encodeURIComponent(RECORD_KEY)}`);
    expect(answer.status).toBe(200);
    const event = (await service.log.scan({ after: 0, limit: 10_000 })).at(-1);
    expect(event?.arrival).toContain('/RecordEvent?order=19"');
  });

  describe.each(['soap11', 'soap12'] as const)('a WS-Security UsernameToken over %s', (binding) => {
    const call = (blocks: string, operation = 'RecordEvent', headers: Record<string, string> = {}): Promise<Answer> => {
      const { path, body = '', ...question } = requestOf(binding, operation, '<a/>');
      const text = withHeader(String(body), blocks);
      return send(service.url + path, { ...question, headers: { ...question.headers, ...headers }, body: text });
    };
    const later = new Date(Date.now() + 60_000).toISOString();
    const timestamp = (expires: string) =>
      `<wsu:Timestamp><wsu:Created>2026-01-01T00:00:00Z</wsu:Created><wsu:Expires>${expires}</wsu:Expires></wsu:Timestamp>`;

    it.each([
      ['', usernameToken(RECORD_KEY)],
      ['SOAP:mustUnderstand="1"', usernameToken(RECORD_KEY)],
      ['', `<wsse:UsernameToken><wsse:Username/><wsse:Password>${RECORD_KEY}</wsse:Password></wsse:UsernameToken>`],
      ['SOAP:mustUnderstand="1"', timestamp(later) + usernameToken(`<![CDATA[${RECORD_KEY}]]>`)],
    ])('marked %s is taken, and is no part of the event: %s', async (attributes, token) => {
      const answer = await call(securityHeader(token, attributes));
      expect(answer.status).toBe(200);
      const event = (await service.log.scan({ after: 0, limit: 10_000 })).at(-1);
      expect(event?.id).toBe(resultOf(answer));
      expect(event?.data).toContain('<a xmlns=');
      expect(JSON.stringify(event)).not.toMatch(/record-key|wsse|Password/);
    });

    it.each([
      [4 * 60_000 + 50_000, 200],
      [5 * 60_000 + 10_000, 401],
    ])('with a Timestamp that expired %d ms ago gets %d: clocks may differ by five minutes', async (age, status) => {
      const expires = new Date(Date.now() - age).toISOString();
      expect((await call(securityHeader(timestamp(expires) + usernameToken(RECORD_KEY)))).status).toBe(status);
    });

    it('is refused if it is repeated after its Timestamp has expired', async () => {
      const token = `<wsse:UsernameToken><wsse:Username/><wsse:Password>${RECORD_KEY}</wsse:Password></wsse:UsernameToken>`;
      const header = securityHeader(`<wsu:Timestamp><wsu:Expires>${later}</wsu:Expires></wsu:Timestamp>${token}`);
      expect((await call(header)).status).toBe(200);
      const now = jest.spyOn(Date, 'now').mockReturnValue(Date.parse(later) + 10 * 60_000);
      expect((await call(header)).status).toBe(401);
      now.mockRestore();
    });

    it.each([
      {
        what: 'a wrong password',
        token: usernameToken('not-the-key-0123456'),
        status: 401,
        reason: 'This key may not record events.',
      },
      {
        what: 'an expired Timestamp',
        token: timestamp('2026-01-01T00:05:00Z') + usernameToken(RECORD_KEY),
        status: 401,
        reason: 'its Timestamp has expired',
      },
    ])('with $what is refused', async ({ token, status, reason }) => {
      const answer = await call(securityHeader(token));
      expect(answer.status).toBe(status);
      expect(answer.body).toContain(reason);
      expect(answer.body).toContain(binding === 'soap11' ? '<faultcode xmlns:ws' : 'soap:Sender');
    });

    it('that cannot be used and must be understood is refused even beside a valid key', async () => {
      const header = securityHeader(usernameToken('ZGlnZXN0', PASSWORD_DIGEST), 'SOAP:mustUnderstand="1"');
      const answer = await call(header, 'RecordEvent', { 'X-API-Key': RECORD_KEY });
      expect(answer.status).toBe(500);
      expect(answer.body).toContain('only a password of the type PasswordText is supported');
    });

    it('twice in a message is refused', async () => {
      const answer = await call(securityHeader(usernameToken(RECORD_KEY)).repeat(2));
      expect(answer.status).toBe(401);
      expect(answer.body).toContain('there are two');
    });

    it('for another receiver is ignored', async () => {
      const role = binding === 'soap11' ? 'actor' : 'role';
      const answer = await call(securityHeader(usernameToken(RECORD_KEY), `SOAP:${role}="urn:somebody-else"`));
      expect(answer.status).toBe(401);
    });
  });
});

it('without keys a UsernameToken that must be understood is understood', async () => {
  const service = await startService();
  const header = securityHeader(usernameToken('any'), 'SOAP:mustUnderstand="1"');
  const { path, ...question } = requestOf('soap11', 'HelloWorld');
  const answer = await send(service.url + path, { ...question, body: withHeader(envelope11('HelloWorld'), header) });
  expect(resultOf(answer)).toBe('Hello World');
  await service.stop();
});
