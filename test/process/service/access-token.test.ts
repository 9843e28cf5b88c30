import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { envelope11 } from '../../support/bindings';
import { send, type Question } from '../../support/http';
import { startProcess } from '../../support/process';
import { startTarget } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { TOOL } from '../../support/tool';

const RECORD_KEY = 'a record key/with+odd&signs=1'.replaceAll(' ', '_');
const READ_KEY = 'read-key-0123456789';
const TOKEN = `access_token=${encodeURIComponent(RECORD_KEY)}`;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const XML_TYPE = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '"http://tempuri.org/RecordEvent"' };
const OUTBOUND =
  '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notifications ' +
  'xmlns="http://soap.sforce.com/2005/09/outbound"><Id>1</Id></notifications></soapenv:Body></soapenv:Envelope>';

/** What each sender sends to the address that it was given: its question, and a delivery. */
const SENDERS: Readonly<Record<string, readonly (Question & { readonly query?: string })[]>> = {
  Slack: [
    { method: 'POST', headers: JSON_TYPE, body: '{"type":"url_verification","challenge":"c1"}' },
    { method: 'POST', headers: JSON_TYPE, body: '{"type":"event_callback","event_id":"Ev1"}' },
  ],
  WebSub: [
    { query: 'hub.mode=subscribe&hub.topic=t&hub.challenge=c2' },
    { method: 'POST', headers: { 'Content-Type': 'application/atom+xml' }, body: '<feed/>' },
  ],
  'Microsoft Graph': [
    { method: 'POST', query: 'validationToken=c3', headers: { 'Content-Type': 'text/plain' } },
    { method: 'POST', headers: JSON_TYPE, body: '{"value":[]}' },
  ],
  'Event Grid': [
    {
      method: 'POST',
      headers: { ...JSON_TYPE, 'aeg-event-type': 'SubscriptionValidation' },
      body: '[{"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","data":{"validationCode":"c4"}}]',
    },
    { method: 'POST', headers: { ...JSON_TYPE, 'aeg-event-type': 'Notification' }, body: '[{"eventType":"a"}]' },
  ],
  Salesforce: [
    { method: 'POST', headers: { 'Content-Type': 'text/xml', SOAPAction: '""' }, body: OUTBOUND },
    { method: 'POST', headers: { 'Content-Type': 'text/xml', SOAPAction: '""' }, body: OUTBOUND.replace('>1<', '>2<') },
  ],
  Trello: [{ method: 'HEAD' }, { method: 'POST', headers: JSON_TYPE, body: '{"action":{"id":"1"}}' }],
};

describe('a record key in the address', () => {
  const folder = useTemporaryFolder();

  it('lets every sender that can send nothing else ask and deliver, and is found nowhere afterwards', async () => {
    const settings = {
      RECORD_KEYS: RECORD_KEY,
      READ_KEYS: READ_KEY,
      SENDER_HANDSHAKES: 'slack,websub,msgraph,eventgrid,salesforce,trello',
      RECORD_PATHS: 'true',
      ACCESS_LOG: 'true',
      LOG_LEVEL: 'debug',
    };
    const service = await startProcess(settings, folder.path);
    const read = async (path: string) => (await send(service.url + path, { headers: { 'X-API-Key': READ_KEY } })).body;
    const call = (path: string, { query, ...question }: Question & { readonly query?: string }) =>
      send(`${service.url}${path}?${query === undefined ? '' : `${query}&`}${TOKEN}`, question);

    for (const [name, [asked = {}, delivered = {}]] of Object.entries(SENDERS)) {
      const [question, delivery] = [await call('/RecordEvent', asked), await call('/RecordEvent', delivered)];
      expect([name, question.status, delivery.status]).toEqual([name, 200, 200]);
      expect([name, (await send(`${service.url}/RecordEvent`, delivered)).status]).toEqual([name, 401]);
    }
    const soap = { method: 'POST', headers: XML_TYPE, body: envelope11('RecordEvent', '<a>1</a>') };
    expect((await call('', soap)).status).toBe(200);
    expect((await call('/RecordEvent/orders/17', { method: 'PUT', headers: JSON_TYPE, body: '{}' })).status).toBe(200);
    expect((await call('/RecordEvent', { query: 'order=17' })).status).toBe(200);
    // The name may be escaped, too.
    expect((await send(`${service.url}/RecordEvent?order=18&${TOKEN.replace('_', '%5F')}`)).status).toBe(200);
    // These are refused, and listed: a wrong key, a read key, and a record key for another operation.
    expect((await send(`${service.url}/RecordEvent?access_token=wrong-${RECORD_KEY}`)).status).toBe(401);
    expect((await send(`${service.url}/RecordEvent?access_token=${READ_KEY}`)).status).toBe(401);
    expect((await send(`${service.url}/GetEvents?access_token=${READ_KEY}`)).status).toBe(401);
    expect((await call('/GetEvents', {})).status).toBe(401);
    expect((await call('/Nothing', {})).status).toBe(500);

    const target = await startTarget();
    const tool = (...args: string[]) =>
      promisify(execFile)(process.execPath, [TOOL, ...args], {
        cwd: folder.path,
        env: { PATH: process.env.PATH, WEBHOOK_READ_KEY: READ_KEY },
      });
    await tool('export', 'events.ndjson');
    await tool('forward', target.url, '--as-received', '--since', '0');
    const pages = ['?events', '?events=refusals', '?events=rate', '?events=export', '/GetEvents?limit=100'];
    const events = Array.from({ length: 16 }, (_, i) => `?event=${String(i + 1)}`);
    const shown = await Promise.all([...pages, ...events, '?event=15&with=16'].map(read));
    const metrics = await send(new URL('/metrics', service.url).href, { headers: { 'X-API-Key': READ_KEY } });
    await service.end('SIGTERM');
    await target.close();
    expect(target.received.length).toBeGreaterThan(10);

    const files = await readdir(join(folder.path, 'data'));
    const texts = {
      pages: shown.join(),
      metrics: metrics.body,
      log: service.output(),
      forwarded: JSON.stringify(target.received.map(({ body, ...rest }) => [rest, body.toString()])),
      export: await readFile(join(folder.path, 'events.ndjson'), 'utf8'),
      database: (await Promise.all(files.map((file) => readFile(join(folder.path, 'data', file), 'latin1')))).join(),
    };
    for (const [where, text] of Object.entries(texts)) {
      expect([where, text.length > 500]).toEqual([where, true]);
      for (const secret of [RECORD_KEY, encodeURIComponent(RECORD_KEY), READ_KEY])
        expect([where, secret, text.includes(secret)]).toEqual([where, secret, false]);
      expect([where, /access(?:_|%5F)token(?!=\*\*\*).{20}/i.exec(text)]).toEqual([where, null]);
    }
  });
});
