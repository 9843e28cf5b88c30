import { readConfig } from '../../src/config/config';
import { ask, callOperation, eventsOf, requestOf, resultOf } from '../support/bindings';
import { send, type Question } from '../support/http';
import { startService, useService } from '../support/service';
import { untilWaiting } from '../support/waiting';
import { securityHeader, usernameToken } from '../support/wsse';

const RECORD_KEY = 'record-key-0123456789';
const READ_KEY = 'read-key-0123456789abc';

describe('with RECORD_KEYS and READ_KEYS', () => {
  const service = useService({ RECORD_KEYS: RECORD_KEY, READ_KEYS: READ_KEY });

  const read = async () =>
    eventsOf(await callOperation(service.url, 'httpget', 'GetEvents', '', { 'X-API-Key': READ_KEY }));

  describe.each(['soap11', 'soap12', 'httpget'] as const)('over %s', (binding) => {
    it.each([
      ['no key', {}, 'RecordEvent needs a record key.'],
      ['a wrong key', { Authorization: 'Bearer not-the-key-0123456' }, 'This key may not record events.'],
      ['a key that only reads', { 'X-API-Key': READ_KEY }, 'This key may not record events.'],
    ])('%s gets 401, a challenge, and records nothing', async (_what, headers, reason) => {
      const before = (await read()).length;
      const answer = await ask(service.url, binding, 'RecordEvent', { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Basic realm="WebHook", charset="UTF-8", Bearer realm="WebHook"');
      expect(answer.body).toContain(reason);
      if (binding === 'soap11') expect(answer.body).toContain('<faultcode>soap:Client</faultcode>');
      if (binding === 'soap12') expect(answer.body).toContain('<soap:Value>soap:Sender</soap:Value>');
      expect(await read()).toHaveLength(before);
    });
  });

  it.each(['access_token', 'access%5Ftoken', '%61ccess_token'])(
    'a key in the address is taken as %s, to record and not to read',
    async (name) => {
      const answer = await send(`${service.url}/RecordEvent?order=19&${name}=${encodeURIComponent(RECORD_KEY)}`);
      expect(answer.status).toBe(200);
      const event = (await service.log.scan({ after: 0, limit: 10_000 })).at(-1);
      expect(event?.arrival).toContain('/RecordEvent?order=19"');
      const statusOf = async (place: string, key: string, question: Question = {}) =>
        (await send(`${service.url}${place}?${name}=${encodeURIComponent(key)}`, question)).status;
      expect(await statusOf('', RECORD_KEY, requestOf('soap11', 'RecordEvent'))).toBe(200);
      for (const key of [RECORD_KEY, READ_KEY]) expect(await statusOf('/GetEvents', key)).toBe(401);
    },
  );

  describe.each(['soap11', 'soap12'] as const)('a WS-Security UsernameToken over %s', (binding) => {
    const call = (blocks: string, headers: Record<string, string> = {}) =>
      ask(service.url, binding, 'RecordEvent', { inside: '<a/>', blocks, headers });
    const expiring = (seconds: number) =>
      `<wsu:Timestamp><wsu:Created>2026-01-01T00:00:00Z</wsu:Created><wsu:Expires>${new Date(Date.now() + seconds * 1000).toISOString()}</wsu:Expires></wsu:Timestamp>`;
    const plain = `<wsse:UsernameToken><wsse:Username/><wsse:Password>${RECORD_KEY}</wsse:Password></wsse:UsernameToken>`;
    const MANDATORY = 'SOAP:mustUnderstand="1"';

    it.each<[string, string, string, Record<string, string>?]>([
      ['marked as mandatory', MANDATORY, usernameToken(RECORD_KEY)],
      ['without a type', '', plain],
      ['as CDATA beside a Timestamp', MANDATORY, expiring(60) + usernameToken(`<![CDATA[${RECORD_KEY}]]>`)],
      ['with a Timestamp that expired: clocks may differ by five minutes', '', expiring(-240) + plain],
      ['beside a key that is meant for a proxy', '', plain, { Authorization: 'Basic cHJveHk6b3RoZXI=' }],
    ])('is taken %s, and is no part of the event', async (_how, attributes, token, ...[headers]) => {
      const answer = await call(securityHeader(token, attributes), headers);
      expect(answer.status).toBe(200);
      const event = (await service.log.scan({ after: 0, limit: 10_000 })).at(-1);
      expect(event?.id).toBe(resultOf(answer));
      expect(event?.data).toContain('<a xmlns=');
      expect(JSON.stringify(event)).not.toMatch(/record-key|wsse|Password/);
    });

    it('is refused if it is repeated after its Timestamp has expired', async () => {
      const header = securityHeader(expiring(60) + plain);
      expect((await call(header)).status).toBe(200);
      jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 10 * 60_000);
      expect((await call(header)).status).toBe(401);
    });

    const ANOTHER = `SOAP:${binding === 'soap11' ? 'actor' : 'role'}="urn:somebody-else"`;
    it.each([
      ['twice in a message', securityHeader(plain).repeat(2), 'there are two'],
      ['for another receiver', securityHeader(plain, ANOTHER), 'RecordEvent needs a record key.'],
      ['with another password', securityHeader(usernameToken('x')), 'This key may not record events.'],
    ])('%s is refused, unless a header field has a key', async (_what, header, reason) => {
      expect((await call(header, { 'X-API-Key': RECORD_KEY })).status).toBe(200);
      const answer = await call(header);
      expect([answer.status, answer.body]).toEqual([401, expect.stringContaining(reason)]);
      if (!header.includes(ANOTHER))
        expect(answer.body).toContain(binding === 'soap11' ? '<faultcode xmlns:ws' : 'soap:Sender');
    });
  });
});

it('a key that is taken away opens nothing any more, not even for a call that waits, unlike one that stays', async () => {
  const service = await startService({ READ_KEYS: `${READ_KEY},${RECORD_KEY}`, ADMIN_PORT: '0' });
  const answers = [READ_KEY, RECORD_KEY].map((key) =>
    send(`${service.url}/GetEvents?after=0&wait=60s`, { headers: { 'X-API-Key': key } }),
  );
  await untilWaiting(service.adminUrl ?? '', 2);
  await service.app.reload(readConfig({ READ_KEYS: RECORD_KEY }));
  await callOperation(service.url, 'httpget', 'RecordEvent');
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 200]);
});
