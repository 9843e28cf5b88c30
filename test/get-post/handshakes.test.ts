import { createHmac } from 'node:crypto';
import { newestEvents } from '../support/bindings';
import { send, type Question } from '../support/http';
import { startService, useService } from '../support/service';
import { parsedText } from '../support/xml';

const KEY = 'record-key-0123456789';
const SLACK_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const CLOUD_EVENT = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' };
const TEXT = 'text/plain; charset=utf-8';
const CHALLENGE = '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P';

interface Asked extends Question {
  readonly query?: string;
}

const post = (body: string, headers: Record<string, string> = JSON_TYPE): Asked => ({ method: 'POST', headers, body });
const challenge = (given: unknown) => post(JSON.stringify({ token: 't', challenge: given, type: 'url_verification' }));
const validation = (data: object, eventType = 'Microsoft.EventGrid.SubscriptionValidationEvent') => {
  const event = { id: '1', topic: '/t', subject: '', data, eventType, eventTime: '2026-01-25T22:12:19.4556811Z' };
  return post(JSON.stringify([event]), { ...JSON_TYPE, 'aeg-event-type': 'SubscriptionValidation' });
};
const outboundMessage = (namespace = 'http://soap.sforce.com/2005/09/outbound') =>
  post(
    '<?xml version="1.0" encoding="UTF-8"?>\n<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">\n' +
      ` <soapenv:Body>\n  <notifications xmlns="${namespace}">\n  </notifications>\n </soapenv:Body>\n</soapenv:Envelope>`,
    { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '""' },
  );

type Handshake = Readonly<{ asks: Asked; contentType: string; body: string | RegExp; type: string }>;

/** How each sender asks, as it documents it, what it waits for, and the type of the event. */
const HANDSHAKES = {
  slack: {
    asks: challenge(CHALLENGE),
    contentType: 'application/json',
    body: `{"challenge":"${CHALLENGE}"}`,
    type: 'com.slack.url_verification',
  },
  websub: {
    asks: { query: '?hub.mode=subscribe&hub.topic=https%3A%2F%2Fa.example&hub.challenge=a%2Bb+c&hub.lease_seconds=9' },
    contentType: TEXT,
    body: 'a+b c',
    type: 'org.w3.websub.subscribe',
  },
  msgraph: {
    asks: {
      method: 'POST',
      headers: { 'Content-Type': TEXT },
      query: '?validationToken=Validation%3a+Testing+client+application+%3cb%3e',
    },
    contentType: TEXT,
    body: 'Validation: Testing client application <b>',
    type: 'com.microsoft.graph.validation',
  },
  eventgrid: {
    asks: validation({ validationCode: '512d38b6-"', validationUrl: 'https://rp.example' }),
    contentType: 'application/json',
    body: '{"validationResponse":"512d38b6-\\""}',
    type: 'com.microsoft.eventgrid.validation',
  },
  salesforce: {
    asks: outboundMessage(),
    contentType: 'text/xml; charset=utf-8',
    body: /<notificationsResponse xmlns="http:\/\/soap\.sforce\.com\/2005\/09\/outbound"><Ack>true<\/Ack>/,
    type: 'com.salesforce.outbound_message',
  },
  trello: { asks: { method: 'HEAD' }, contentType: TEXT, body: '', type: 'com.trello.validation' },
} satisfies Readonly<Record<string, Handshake>>;
const SENDERS = Object.entries<Handshake>(HANDSHAKES);
const NAMES = Object.keys(HANDSHAKES);
const ALL = NAMES.join(',');

const start = async (variables: Record<string, string>) => (await startService(variables)).url;
const ask = (
  url: string,
  { query = '', ...question }: Asked,
  headers: Record<string, string> = {},
  path = '/RecordEvent',
) => send(url + path + query, { ...question, headers: { ...question.headers, ...headers } });

it.each(SENDERS)(
  'the handshake of %s is answered as documented, and recorded as its own type, whatever EVENT_TYPE says',
  async (name, { asks, contentType, body, type }) => {
    const url = await start({ SENDER_HANDSHAKES: name, EVENT_TYPE: 'a.b' });
    const answer = await ask(url, asks);
    const { 'content-type': answered, 'x-content-type-options': options } = answer.headers;
    expect([answer.status, answered, options]).toEqual([200, contentType, 'nosniff']);
    expect(answer.body).toEqual(typeof body === 'string' ? body : expect.stringMatching(body));
    if (contentType.startsWith('text/xml')) expect(parsedText(answer.body)).toBe('true');
    const binding = asks.method === 'POST' ? 'httppost' : 'httpget';
    expect(await newestEvents(url)).toMatchObject([{ type, binding }]);
  },
);

describe.each(['slack', 'trello'] as const)('the handshake of %s', (name) => {
  const { asks, contentType, body, type } = HANDSHAKES[name];

  it('is an ordinary call where it is not listed, and to other operations', async () => {
    const without = await start({ SENDER_HANDSHAKES: NAMES.filter((other) => other !== name).join(',') });
    const answer = await ask(without, asks);
    if (name === 'trello') expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, OPTIONS, POST']);
    else expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('<string xmlns=')]);
    for (const event of await newestEvents(without)) expect(event.type).toBe('webhook.recorded');
    const url = await start({ SENDER_HANDSHAKES: ALL });
    for (const path of ['/HelloWorld', '/GetEvents']) {
      const other = await ask(url, asks, {}, path);
      if (name === 'trello') expect(other.status).toBe(405);
      else expect(other.body).not.toMatch(body);
    }
    expect(await newestEvents(url)).toEqual([]);
  });

  it('needs a key, in a header field or in the address, as what is delivered later', async () => {
    const url = await start({ SENDER_HANDSHAKES: ALL, RECORD_KEYS: KEY });
    const withKey = (key: string) => ({ ...asks, query: `?access_token=${key}` });
    for (const [question, headers, status] of [
      [asks, {}, 401],
      [asks, { 'X-API-Key': `${KEY}0` }, 401],
      [withKey(`${KEY}0`), {}, 401],
      [asks, { 'X-API-Key': KEY }, 200],
      [withKey(KEY), {}, 200],
    ] as const) {
      const answer = await ask(url, question, headers);
      expect(answer.status).toBe(status);
      if (status === 200) expect(answer.headers['content-type']).toBe(contentType);
    }
    expect((await newestEvents(url)).map((event) => event.type)).toEqual([type, type]);
  });

  it('is answered below RecordEvent/, where RECORD_PATHS records any path', async () => {
    const url = await start({ SENDER_HANDSHAKES: name, RECORD_PATHS: 'true' });
    const answer = await ask(url, asks, {}, '/RecordEvent/shops/17');
    expect([answer.status, answer.headers['content-type']]).toEqual([200, contentType]);
    expect(await newestEvents(url)).toMatchObject([{ type }]);
  });

  it('is limited like a call', async () => {
    const limited = await start({ SENDER_HANDSHAKES: ALL, RATE_LIMIT: '1/1h' });
    expect([(await ask(limited, asks)).status, (await ask(limited, asks)).status]).toEqual([200, 429]);
  });
});

it('the handshake of Microsoft Graph may have its parameter in lower case, as SharePoint writes it, with 2,048 characters', async () => {
  const url = await start({ SENDER_HANDSHAKES: ALL });
  const token = 'b'.repeat(2048);
  expect((await ask(url, { method: 'POST', query: `?validationtoken=${token}` })).body).toBe(token);
});

it('what has a body and the query of a handshake needs a key, and is recorded as itself', async () => {
  const url = await start({ SENDER_HANDSHAKES: ALL, RECORD_KEYS: KEY });
  const posted = { ...HANDSHAKES.msgraph.asks, headers: JSON_TYPE, body: '{"order":19}' };
  expect((await ask(url, posted)).status).toBe(401);
  expect((await ask(url, posted, { 'X-API-Key': KEY })).body).toContain('<string');
  expect(await newestEvents(url)).toMatchObject([{ type: 'webhook.recorded', data: { order: 19 } }]);
});

it('the handshake of Slack is signed, and not answered to the signature of another sender', async () => {
  const GITLAB_TOKENS = 'a token of GitLab';
  const url = await start({ SENDER_HANDSHAKES: ALL, SLACK_SECRETS: SLACK_SECRET, GITLAB_TOKENS });
  const { asks } = HANDSHAKES.slack;
  const time = String(Math.floor(Date.now() / 1000));
  const signed = `v0:${time}:${String(asks.body)}`;
  const digest = createHmac('sha256', SLACK_SECRET).update(signed).digest('hex');
  const askSigned = (signature: string) =>
    ask(url, asks, { 'X-Slack-Request-Timestamp': time, 'X-Slack-Signature': `v0=${signature}` });
  expect([(await ask(url, asks)).status, (await askSigned(digest.replace(/^./, 'x'))).status]).toEqual([401, 401]);
  expect((await askSigned(digest)).body).toBe(JSON.stringify({ challenge: CHALLENGE }));
  expect((await ask(url, asks, { 'X-Gitlab-Token': GITLAB_TOKENS })).body).toContain('<string');
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
      challenge(text),
      validation({ validationCode: text }),
    ];
    for (const question of questions) expect((await ask(service.url, question)).body).toContain('<string');
  });

  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  it.each<[string, Asked]>([
    ['the end of a subscription', { query: '?hub.mode=unsubscribe&hub.topic=a&hub.challenge=b' }],
    ['a subscription that was denied', { query: '?hub.mode=denied&hub.topic=a' }],
    ['another method', { method: 'POST', query: '?hub.mode=subscribe&hub.challenge=b' }],
    ['a token in a GET', { query: '?validationToken=b' }],
    ['a challenge in a GET', { query: '?type=url_verification&challenge=b' }],
    ['a challenge in a form', post('type=url_verification&challenge=b', form)],
    ['a challenge that is no text', challenge([1])],
    ['JSON null', { ...validation({}), body: '[null]' }],
    ['another event of Event Grid', validation({ validationCode: 'c' }, 'Other')],
    ['no aeg-event-type', { ...validation({ validationCode: 'c' }), headers: JSON_TYPE }],
    ['another SOAP message', outboundMessage('http://soap.sforce.com/other')],
    ['a CloudEvent', { ...challenge('c'), headers: { ...JSON_TYPE, ...CLOUD_EVENT } }],
  ])('%s is no handshake', async (_which, question) => {
    expect((await ask(service.url, question)).body).toContain('<string');
  });
});
