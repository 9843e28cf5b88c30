import { createHmac } from 'node:crypto';
import { callOperation, eventsOf } from '../support/bindings';
import { send, type Question } from '../support/http';
import { startService, useService, type TestService } from '../support/service';
import { parsedText } from '../support/xml';

const KEY = 'record-key-0123456789';
const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const CHALLENGE = '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P';

const OUTBOUND_MESSAGE = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="http://soap.sforce.com/2005/09/outbound">
   <OrganizationId>00D24</OrganizationId>
  </notifications>
 </soapenv:Body>
</soapenv:Envelope>`;

const validation = (data: object, eventType = 'Microsoft.EventGrid.SubscriptionValidationEvent') =>
  JSON.stringify([{ id: '1', topic: '/t', subject: '', data, eventType, eventTime: '2026-01-25T22:12:19.4556811Z' }]);
const AEG = { ...JSON_TYPE, 'aeg-event-type': 'SubscriptionValidation' };

interface Asked extends Question {
  readonly query?: string;
}

/** How each sender asks, as it documents it, and what it waits for. */
const HANDSHAKES: Readonly<
  Record<string, readonly [asks: Asked, contentType: string, body: string | RegExp, type: string]>
> = {
  slack: [
    {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ token: 't', challenge: CHALLENGE, type: 'url_verification' }),
    },
    'application/json',
    JSON.stringify({ challenge: CHALLENGE }),
    'com.slack.url_verification',
  ],
  websub: [
    {
      query:
        '?hub.mode=subscribe&hub.topic=https%3A%2F%2Fexample.com%2Ffeed&hub.challenge=a%2Bb+c&hub.lease_seconds=864000',
    },
    'text/plain; charset=utf-8',
    'a+b c',
    'org.w3.websub.subscribe',
  ],
  msgraph: [
    {
      method: 'POST',
      query: '?validationToken=Validation%3a+Testing+client+application+%3cb%3e',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    },
    'text/plain; charset=utf-8',
    'Validation: Testing client application <b>',
    'com.microsoft.graph.validation',
  ],
  eventgrid: [
    {
      method: 'POST',
      headers: AEG,
      body: validation({ validationCode: '512d38b6-"', validationUrl: 'https://rp.example' }),
    },
    'application/json',
    '{"validationResponse":"512d38b6-\\""}',
    'com.microsoft.eventgrid.validation',
  ],
  salesforce: [
    {
      method: 'POST',
      headers: { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '""' },
      body: OUTBOUND_MESSAGE,
    },
    'text/xml; charset=utf-8',
    /<notificationsResponse xmlns="http:\/\/soap\.sforce\.com\/2005\/09\/outbound"><Ack>true<\/Ack>/,
    'com.salesforce.outbound_message',
  ],
  trello: [{ method: 'HEAD' }, 'text/plain; charset=utf-8', '', 'com.trello.validation'],
};
const NAMES = Object.keys(HANDSHAKES);
const ALL = NAMES.join(',');

const ask = (
  service: TestService,
  { query = '', ...question }: Asked,
  headers: Record<string, string> = {},
  path = '/RecordEvent',
) => send(service.url + path + query, { ...question, headers: { ...question.headers, ...headers } });
const recorded = async (service: TestService) => eventsOf(await callOperation(service.url, 'httpget', 'GetEvents'));
const handshake = (name: string) => HANDSHAKES[name] as (typeof HANDSHAKES)[string];

describe.each(NAMES)('the handshake of %s', (name) => {
  const [asked, contentType, body, type] = handshake(name);

  it('is answered as it is documented, and recorded as an event of its own type, whatever EVENT_TYPE says', async () => {
    const service = await startService({ SENDER_HANDSHAKES: name, EVENT_TYPE: 'a.b' });
    const answer = await ask(service, asked);
    expect([answer.status, answer.headers['content-type'], answer.headers['x-content-type-options']]).toEqual([
      200,
      contentType,
      'nosniff',
    ]);
    if (typeof body === 'string') expect(answer.body).toBe(body);
    else expect(answer.body).toMatch(body);
    if (contentType.startsWith('text/xml')) expect(parsedText(answer.body)).toBe('true');
    expect(await recorded(service)).toMatchObject([
      { type, binding: asked.method === 'POST' ? 'httppost' : 'httpget' },
    ]);
  });
});

describe.each(['slack', 'trello'])('the handshake of %s', (name) => {
  const [asked, contentType, body, type] = handshake(name);

  it('is an ordinary call where it is not listed, and to other operations', async () => {
    const others = NAMES.filter((other) => other !== name).join(',');
    const without = await startService({ SENDER_HANDSHAKES: others });
    const answer = await ask(without, asked);
    if (name === 'trello') expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, OPTIONS, POST']);
    else expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('<string xmlns=')]);
    for (const event of await recorded(without)) expect(event.type).toBe('webhook.recorded');
    const service = await startService({ SENDER_HANDSHAKES: ALL });
    for (const path of ['/HelloWorld', '/GetEvents']) {
      const answer = await ask(service, asked, {}, path);
      if (name === 'trello') expect(answer.status).toBe(405);
      else expect(answer.body).not.toMatch(body);
    }
    expect(await recorded(service)).toEqual([]);
  });

  it('needs a key, in a header field or in the address, as what is delivered later', async () => {
    const service = await startService({ SENDER_HANDSHAKES: ALL, RECORD_KEYS: KEY });
    const withKey = (key: string) => ({ ...asked, query: `${asked.query ?? '?'}&access_token=${key}` });
    expect((await ask(service, asked)).status).toBe(401);
    expect((await ask(service, asked, { 'X-API-Key': `${KEY}0` })).status).toBe(401);
    expect((await ask(service, withKey(`${KEY}0`))).status).toBe(401);
    expect((await ask(service, asked, { 'X-API-Key': KEY })).status).toBe(200);
    const answer = await ask(service, withKey(KEY));
    expect([answer.status, answer.headers['content-type']]).toEqual([200, contentType]);
    expect((await recorded(service)).map((event) => event.type)).toEqual([type, type]);
  });

  it('is answered below RecordEvent/, where RECORD_PATHS records any path', async () => {
    const service = await startService({ SENDER_HANDSHAKES: name, RECORD_PATHS: 'true' });
    const answer = await ask(service, asked, {}, '/RecordEvent/shops/17');
    expect([answer.status, answer.headers['content-type']]).toEqual([200, contentType]);
    expect(await recorded(service)).toMatchObject([{ type }]);
  });

  it('is limited like a call, and refused where its binding is off', async () => {
    const limited = await startService({ SENDER_HANDSHAKES: ALL, RATE_LIMIT: '1/1h' });
    expect([(await ask(limited, asked)).status, (await ask(limited, asked)).status]).toEqual([200, 429]);
    const [off, on] = asked.method === 'POST' ? ['httppost', 'httpget'] : ['httpget', 'httppost'];
    await expect(startService({ SENDER_HANDSHAKES: name, PROTOCOLS: on ?? '' })).rejects.toThrow(
      `SENDER_HANDSHAKES=${name}: needs ${String(off)} in PROTOCOLS for ${name}`,
    );
  });
});

it('of Microsoft Graph may have its parameter in lower case, as SharePoint writes it', async () => {
  const service = await startService({ SENDER_HANDSHAKES: ALL });
  expect((await ask(service, { method: 'POST', query: '?validationtoken=b' })).body).toBe('b');
});

it('a body needs a key, whatever the query asks, and is recorded as itself', async () => {
  const service = await startService({ SENDER_HANDSHAKES: ALL, RECORD_KEYS: KEY });
  const [graph] = handshake('msgraph');
  const posted = { ...graph, headers: JSON_TYPE, body: '{"order":19}' };
  expect((await ask(service, posted)).status).toBe(401);
  expect((await ask(service, posted, { 'X-API-Key': KEY })).body).toContain('<string');
  expect(await recorded(service)).toMatchObject([{ type: 'webhook.recorded', data: { order: 19 } }]);
});

it('of Slack is signed, and not answered to the signature of another sender', async () => {
  const service = await startService({
    SENDER_HANDSHAKES: ALL,
    SLACK_SECRETS: SLACK_SECRET,
    GITLAB_TOKENS: 'a token of GitLab',
  });
  const [asked] = handshake('slack');
  const time = String(Math.floor(Date.now() / 1000));
  const digest = createHmac('sha256', SLACK_SECRET)
    .update(`v0:${time}:${String(asked.body)}`)
    .digest('hex');
  const signed = (signature: string) =>
    ask(service, asked, { 'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${signature}` });
  expect([(await ask(service, asked)).status, (await signed(digest.replace(/^./, 'x'))).status]).toEqual([401, 401]);
  expect((await signed(digest)).body).toBe(JSON.stringify({ challenge: CHALLENGE }));
  expect((await ask(service, asked, { 'X-Gitlab-Token': 'a token of GitLab' })).body).toContain('<string');
});

describe('only a short printable text is sent back', () => {
  const service = useService({ SENDER_HANDSHAKES: ALL });

  it.each<[string, string]>([
    ['empty', ''],
    ['longer than 2,048 characters', 'a'.repeat(2049)],
    ['with a line break', 'a\r\nSet-Cookie: a=b'],
    ['beyond ASCII', 'é'],
  ])('not one that is %s', async (_which, text) => {
    const encoded = encodeURIComponent(text);
    const questions: Asked[] = [
      { query: `?hub.mode=subscribe&hub.challenge=${encoded}` },
      { method: 'POST', query: `?validationToken=${encoded}` },
      { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ type: 'url_verification', challenge: text }) },
      { method: 'POST', headers: AEG, body: validation({ validationCode: text }) },
    ];
    for (const question of questions) expect((await ask(service, question)).body).toContain('<string');
  });

  it.each<[string, Asked]>([
    ['the end of a subscription', { query: '?hub.mode=unsubscribe&hub.topic=a&hub.challenge=b' }],
    ['a subscription that was denied', { query: '?hub.mode=denied&hub.topic=a' }],
    ['another method', { method: 'POST', query: '?hub.mode=subscribe&hub.challenge=b' }],
    ['a token in a GET', { query: '?validationToken=b' }],
    ['a challenge in a GET', { query: '?type=url_verification&challenge=b' }],
    [
      'a challenge in a form',
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'type=url_verification&challenge=b',
      },
    ],
    [
      'a challenge that is no text',
      { method: 'POST', headers: JSON_TYPE, body: '{"type":"url_verification","challenge":[1]}' },
    ],
    ['JSON null', { method: 'POST', headers: AEG, body: '[null]' }],
    [
      'another event of Event Grid',
      { method: 'POST', headers: AEG, body: validation({ validationCode: 'c' }, 'Other') },
    ],
    ['no aeg-event-type', { method: 'POST', headers: JSON_TYPE, body: validation({ validationCode: 'c' }) }],
    [
      'another SOAP message',
      {
        method: 'POST',
        headers: { 'Content-Type': 'text/xml' },
        body: OUTBOUND_MESSAGE.replace('2005/09/outbound', 'other'),
      },
    ],
  ])('%s is no handshake', async (_which, question) => {
    expect((await ask(service, question)).body).toContain('<string');
  });
});

it('SENDER_HANDSHAKES with an unknown sender stops the start', async () => {
  const list = 'slack,none';
  await expect(startService({ SENDER_HANDSHAKES: list })).rejects.toThrow(
    `SENDER_HANDSHAKES=${list}: must be a list of slack, websub, msgraph, eventgrid, salesforce, trello`,
  );
});
