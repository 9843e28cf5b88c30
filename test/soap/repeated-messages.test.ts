import { envelope11, eventsOf, callOperation, NAMESPACE } from '../support/bindings';
import { send } from '../support/http';
import { startService, type TestService } from '../support/service';
import { securityHeader, usernameToken, withHeader } from '../support/wsse';

const KEY = 'a-key-of-sixteen-characters';

let service: TestService;
beforeEach(async () => {
  service = await startService({ RECORD_KEYS: KEY });
});
afterEach(() => service.stop());

const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
  send(service.url, { method: 'POST', headers: { 'Content-Type': 'text/xml', ...headers }, body });
const action = (operation: string) => ({ SOAPAction: `"${NAMESPACE}${operation}"` });
const withKey = { 'X-API-Key': KEY };

describe('a message that repeats the bytes of the one before', () => {
  it('needs its key again', async () => {
    const body = envelope11('RecordEvent', '<a/>');
    for (const headers of [action('RecordEvent'), {}]) {
      expect((await post(body, { ...withKey, ...headers })).status).toBe(200);
      expect((await post(body, headers)).status).toBe(401);
    }
  });

  it('records what it says each time, and calls the operation that its header fields name', async () => {
    const body = envelope11('RecordEvent', `<a xmlns:b="urn:b"><b:c/></a>`);
    for (let i = 0; i < 3; i++) expect((await post(body, { ...withKey, ...action('RecordEvent') })).status).toBe(200);
    expect((await post(body, action('HelloWorld'))).body).toContain('Hello World');
    const events = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
    expect(events.map(({ data }) => data)).toEqual(Array(3).fill(events[0]?.data));
    expect(events[0]?.data).toContain('<b:c/>');
  });

  it('is read anew in another character set', async () => {
    const body = Buffer.from(envelope11('RecordEvent', '<a>é</a>').replace(/^<\?.*?\?>/, ''));
    for (const charset of ['utf-8', 'iso-8859-1']) {
      const type = { 'Content-Type': `text/xml; charset=${charset}` };
      expect((await post(body, { ...withKey, ...type })).status).toBe(200);
    }
    const events = eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
    expect(events.map(({ data }) => />(.*)</.exec(String(data))?.[1])).toEqual(['é', 'Ã©']);
  });

  it('is refused once the time in its WS-Security header is over', async () => {
    const expires = `<wsu:Timestamp><wsu:Expires>${new Date(Date.now()).toISOString()}</wsu:Expires></wsu:Timestamp>`;
    const body = withHeader(envelope11('RecordEvent'), securityHeader(usernameToken(KEY) + expires));
    expect((await post(body)).status).toBe(200);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    expect((await post(body)).body).toContain('its Timestamp has expired');
    jest.restoreAllMocks();
  });
});
