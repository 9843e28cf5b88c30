import { StoredEvent } from '../../src/events/stored-event';
import * as promises from '../../src/util/promises';
import { envelope11 } from '../support/bindings';
import { send, type Question } from '../support/http';
import { startService, useService } from '../support/service';
import { withHeader } from '../support/wsse';

const service = useService({ SENDER_HANDSHAKES: 'salesforce', RECORD_PATHS: 'true' });

const LARGE = 'ä"<&'.repeat(40_000);
const XML = 'text/xml; charset=utf-8';
const MANDATORY = '<h xmlns="urn:x" SOAP:mustUnderstand="1"/>';

const post = (contentType: string, body: string | Buffer, more: Record<string, string> = {}): Question => ({
  method: 'POST',
  headers: { 'Content-Type': contentType, ...more },
  body,
});

const lastEvent = async () =>
  (await service.log.read({ limit: 1 })).map((event) => JSON.parse(StoredEvent.json(event)) as unknown)[0];

describe('a message over 64 KiB', () => {
  it.each([
    ['JSON', 'application/json', JSON.stringify({ action: LARGE }), { action: LARGE }],
    ['a form', 'application/x-www-form-urlencoded', `a=${encodeURIComponent(LARGE)}`, { a: LARGE }],
    ['text', 'text/plain; charset=utf-8', LARGE, LARGE],
    ['Korean', 'text/plain; charset=euc-kr', Buffer.alloc(100_000, '8c63', 'hex'), '똠'.repeat(50_000)],
  ])('of %s is recorded whole', async (_what, contentType, body, data) => {
    const { status } = await send(`${service.url}/RecordEvent`, post(contentType, body));
    expect(status).toBe(200);
    expect(await lastEvent()).toMatchObject({ data });
  });

  it('of a known sender has its type and its key', async () => {
    const headers = { 'X-GitHub-Delivery': 'd-1', 'X-GitHub-Event': 'issues' };
    const sent = post('application/json', JSON.stringify({ body: LARGE, action: 'opened' }), headers);
    const first = await send(`${service.url}/RecordEvent`, sent);
    expect((await send(`${service.url}/RecordEvent`, sent)).body).toBe(first.body);
    expect(await lastEvent()).toMatchObject({ type: 'com.github.issues.opened' });
  });

  it('is answered if it is an outbound message of Salesforce', async () => {
    const body =
      `<?xml version="1.0"?><e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>` +
      `<notifications xmlns="http://soap.sforce.com/2005/09/outbound">${'x'.repeat(100_000)}</notifications></e:Body></e:Envelope>`;
    expect((await send(`${service.url}/RecordEvent`, post(XML, body))).body).toContain('<Ack>true</Ack>');
  });

  it.each([
    ['is not XML', post(XML, envelope11('RecordEvent', `<a>${'x'.repeat(70_000)}`)), 400],
    [
      'is of another version of SOAP',
      post(XML, envelope11('RecordEvent', 'x'.repeat(70_000)).replace('/envelope/', '/e/')),
      500,
    ],
    ['needs a header understood', post(XML, withHeader(envelope11('RecordEvent', 'x'.repeat(70_000)), MANDATORY)), 500],
    ['names no operation', post(XML, envelope11('Nothing', 'x'.repeat(70_000))), 500],
    ['has an element in a parameter', post(XML, envelope11('GetEvents', `<id><x/>${' '.repeat(70_000)}</id>`)), 500],
  ])('of SOAP that %s is refused as a small one is', async (_what, large, status) => {
    const small = { ...large, body: String(large.body).replace(/x{60000,}| {60000,}/g, 'x') };
    const [first, second] = [await send(service.url, large), await send(service.url, small)];
    const where = /Line \d+, position \d+/;
    expect([first.status, first.body.replace(where, '')]).toEqual([status, second.body.replace(where, '')]);
  });

  it.each([
    ['/RecordEvent', 'application/cloudevents+json', '{"specversion":"1.0","id":"1","source":"/s","data":"…"}', 400],
    ['/RecordEvent', 'application/cloudevents+avro', '…', 415],
    ['/GetEvents', 'application/json', '["…"]', 400],
    ['/GetEvents', 'application/json', '{"id":[["…"]]}', 400],
    ['/GetEvents', 'application/x-www-form-urlencoded', 'Type=…', 400],
  ])('to %s as %s that is wrong is refused as a small one is', async (path, contentType, body, status) => {
    const answers = await Promise.all(
      ['x', 'x'.repeat(100_000)].map((text) => send(service.url + path, post(contentType, body.replace('…', text)))),
    );
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(answers[1]?.body).toBe(answers[0]?.body);
  });
});

const BATCH = JSON.stringify(
  Array.from({ length: 100 }, (_, i) => ({ specversion: '1.0', id: String(i), source: '/s', type: 't' })),
);
it.each<[string, number, string, Question?]>([
  ['a message is read in its thread', 1, '', post(XML, envelope11('HelloWorld', LARGE.replace(/[<&]/g, '')))],
  ['100 events of a batch are made', 1, '/RecordEvent', post('application/cloudevents-batch+json', BATCH)],
  ['events are read, put into a page, and that into an answer', 4, '/GetEvents?after=0&limit=2'],
  ['an event is read whole, and put into an answer', 4, '/GetEvents?sequence=3'],
])('others run after %s', async (_what, pauses, path, ...[question]) => {
  const { url } = await startService({ GET_EVENTS_MAX_BYTES: '200000' });
  if (question === undefined)
    for (const bytes of [90_000, 90_000, 250_000])
      await send(`${url}/RecordEvent`, post('text/plain', 'x'.repeat(bytes)));
  const paused = jest.spyOn(promises, 'letOthersRun');
  expect((await send(url + path, question)).status).toBe(200);
  expect(paused).toHaveBeenCalledTimes(pauses);
});
