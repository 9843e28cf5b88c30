import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Contract } from '../../../src/contract/contract';
import { filesIn } from '../../../src/pages/page-writer';
import { eventsOf, NAMESPACE, resultOf } from '../../support/bindings';
import { startEndpoint } from '../../support/endpoint';
import { send, type Answer } from '../../support/http';
import { contractWith } from '../../support/operations-with-parameters';
import { samplesOn, wrapped } from '../../support/page';
import { startService, useService } from '../../support/service';
import { temporaryFolder } from '../../support/temporary-folder';

const BINDINGS = ['SOAP 1.1', 'SOAP 1.2', 'HTTP GET', 'HTTP POST'];
const RECORD_KEYS = 'record-key-0123456789';
const READ_KEYS = 'read-key-0123456789abc';
const WEBHOOK_SECRETS = 'a-secret-of-a-sender';

const withoutCode = (html: string) => html.replace(/<(style|script)\b[^]*?<\/\1>/g, '');

/** What a reader sees of a page: its text without tags, on one line. */
const textOf = (html: string) =>
  withoutCode(html)
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ');

it('a page has the style and the scripts whose hashes browsers take, which read CRLF as LF', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'a.css'), 'a {\r\n}\r\n');
  expect([...filesIn([folder])]).toEqual([['a.css', 'a {\n}\n']]);
});

describe('the pages', () => {
  const service = useService();
  const page = async (query: string) => (await send(service.url + query)).body;

  it('the service page says which WSDL is for whom, and has the address for webhooks to copy', async () => {
    const html = await page('');
    expect(html).toContain('href="WebHooks.asmx?WSDL=extended"');
    expect(textOf(html)).toContain(
      'Existing clients use the WSDL, which stays as it was; generate new ones from the extended WSDL, which also describes the parameters.',
    );
    expect(html).toContain(`<code id="webhooks">${wrapped(`${service.url}/RecordEvent`)}</code>`);
    expect(html).toContain('data-copy="webhooks"');
    const other = await startService({ PROTOCOLS: 'soap11,httpget' });
    expect((await send(other.url)).body).not.toContain('webhooks"');
  });

  it('the service page leads to the events and counts them, for callers who may look, while the log works', async () => {
    const other = await startService({ READ_KEYS });
    const shown = async (headers: Record<string, string> = { 'X-API-Key': READ_KEYS }) => {
      const { status, body } = await send(other.url, { headers });
      expect(status).toBe(200);
      return textOf(body.replace('<dd><a href="WebHooks.asmx?events">', 'Link '));
    };
    expect(await shown()).toContain('Events None yet. Record the first.');
    for (const order of ['1', '2']) await send(`${other.url}/RecordEvent?order=${order}`);
    expect(await shown()).toContain('Events Link 2 in the log');
    expect(await shown({})).not.toMatch(/None yet|in the log/);
    const stats = jest.spyOn(other.log, 'stats').mockReturnValue(new Promise(() => undefined));
    expect(await shown()).not.toMatch(/None yet|in the log/);
    stats.mockRestore();
    await other.log.close();
    expect(await shown()).not.toMatch(/None yet|in the log/);
  });

  it('the service page has a folded notice about the placeholder namespace, and about no other', async () => {
    const html = await page('');
    expect(html).toMatch(/<details class="notice">\s*<summary>Replacing a service\? Keep its namespace\. /);
    expect(html).toContain('SERVICE_NAMESPACE=https://example.com/webhooks/ npm start');
    for (const SERVICE_NAMESPACE of ['urn:example:hooks/', 'http://tempuri.org/']) {
      const other = await startService({ SERVICE_NAMESPACE });
      expect((await send(other.url)).body).not.toContain('<details');
    }
  });

  it('the page of GetEvents has a table of its parameters, with a labelled field for each', async () => {
    const html = await page('?op=GetEvents');
    const rows = [...html.matchAll(/<tr>\s*(<th scope="row">[^]*?)<\/tr>/g)].map(([, row = '']) => row);
    const { operations } = await Contract.load(NAMESPACE);
    const { parameters = [] } = operations.find(({ name }) => name === 'GetEvents') ?? {};
    expect(parameters.map(({ name }) => name)).toEqual(expect.arrayContaining(['after', 'limit', 'id', 'sequence']));
    expect(rows.map((row) => textOf(row).trim())).toEqual(
      parameters.map(({ name, type, documentation }) => `${name} ${type}, optional ${documentation}`),
    );
    for (const row of rows) {
      const [, id = ''] = /<label for="([^"]*)">/.exec(row) ?? [];
      expect(row).toContain(`id="${id}"`);
    }
  });

  it('the page of RecordEvent has a field for the body and says that it records; that of HelloWorld has no field', async () => {
    const html = await page('?op=RecordEvent');
    expect(html).toMatch(/<label for="body">Body<\/label>\s*<textarea id="body" name="body"/);
    expect(textOf(html)).toContain('Invoke records a real event.');
    expect(textOf(html)).toContain('as a form with the field body, and recorded as {"body":"…"}.');
    expect(textOf(await page('?op=GetEvents'))).not.toContain('records a real event');
    expect(await page('?op=HelloWorld')).not.toMatch(/<(?:input|textarea|select|table)\b/);
  });

  it('the forms work as they are, without a script', async () => {
    const post = async (operation: string, fields: Record<string, string>): Promise<Answer> => {
      const [, action = ''] =
        /<form id="call" method="post" action="([^"]*)">/.exec(await page(`?op=${operation}`)) ?? [];
      return send(new URL(action, service.url).href, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      });
    };
    const id = resultOf(await post('RecordEvent', { body: '{"order":17}' }));
    const empty = { after: '', limit: '', id: '', sequence: '', wait: '' };
    const [event] = eventsOf(resultOf(await post('GetEvents', { ...empty, limit: '1' })));
    expect(event).toMatchObject({ id, data: { body: '{"order":17}' } });
  });

  it('the samples carry the same example over each binding, and no key where none is set', async () => {
    const [recordEvent, getEvents, helloWorld] = await Promise.all(
      ['RecordEvent', 'GetEvents', 'HelloWorld'].map((name) => page(`?op=${name}`)),
    );
    const requestOf = (html = '', binding = '') => samplesOn(html, binding).request;
    for (const binding of ['SOAP 1.1', 'SOAP 1.2']) {
      expect(requestOf(recordEvent, binding)).toContain('\n      <order>17</order>\n');
      expect(requestOf(getEvents, binding)).toContain('\n      <limit>10</limit>\n');
      expect(requestOf(helloWorld, binding)).toContain('<HelloWorld xmlns="http://tempuri.org/" />');
    }
    expect(requestOf(recordEvent, 'HTTP GET')).toMatch(/^GET \S+\/RecordEvent\?order=17 HTTP\/1\.1\n/);
    expect(requestOf(recordEvent, 'HTTP POST')).toMatch(/\nContent-Length: 8\n\norder=17$/);
    expect(requestOf(helloWorld, 'HTTP GET')).toMatch(/\/HelloWorld\? HTTP/);
    expect(withoutCode(recordEvent ?? '')).not.toMatch(/X-API-Key|type="password"|_KEYS/);
  });
});

describe('the pages where keys are set', () => {
  const service = useService({ RECORD_KEYS, READ_KEYS });

  it.each([
    { operation: 'RecordEvent', access: 'record', variable: 'RECORD_KEYS', key: RECORD_KEYS },
    { operation: 'GetEvents', access: 'read', variable: 'READ_KEYS', key: READ_KEYS },
  ])('the page of $operation says that a $access key is needed', async ({ operation, access, variable, key }) => {
    const html = (await send(`${service.url}?op=${operation}`)).body;
    expect(textOf(html)).toContain(`Calls need a ${access} key (${variable}), sent as X-API-Key.`);
    expect(html).toMatch(/<input id="key" type="password" autocomplete="off"/);
    // A form sends only fields with a name: without a script there is none for the key.
    expect(html).not.toMatch(/<input id="key"[^>]* name=/);
    expect(html).toMatch(/<div class="field" data-scripted hidden>\s*<label for="key">/);
    expect(textOf(html)).toContain('asks for a name and a password, enter any name and the key.');
    expect(html).not.toContain(key);
    for (const binding of BINDINGS) {
      const { curl, request } = samplesOn(html, binding);
      expect(curl).toContain('-H "X-API-Key: KEY"');
      expect(request).toContain('\nX-API-Key: KEY\n');
    }
  });

  it('a signature is named where it would do, and there is no form where only signed calls are taken', async () => {
    const either = await startService({ RECORD_KEYS, WEBHOOK_SECRETS });
    expect(textOf((await send(`${either.url}?op=RecordEvent`)).body)).toContain('sent as X-API-Key, or a signed body.');
    const other = await startService({ WEBHOOK_SECRETS });
    const html = (await send(`${other.url}?op=RecordEvent`)).body;
    expect(textOf(html)).toContain('Calls need a signed body');
    expect(html).not.toMatch(/<form|X-API-Key/);
    expect((await send(`${other.url}?op=GetEvents`)).body).toContain('<form');
  });
});

it('the page of an operation has the field that suits the type of each parameter', async () => {
  const endpoint = await startEndpoint(
    {},
    await contractWith({ Fill: ['count s:int', 'note s:string', 'at s:string?'] }),
  );
  const html = (await send(`${endpoint.url}?op=Fill`)).body;
  await endpoint.stop();
  const fields = (name: string) =>
    [...html.matchAll(new RegExp(`<input name="${name}"[^>]*>`, 'g'))].map(([field]) => field);

  expect(fields('count')).toEqual([expect.stringMatching(/type="number".* required>$/)]);
  expect(fields('at')).toEqual([expect.stringMatching(/type="text"(?!.* required)/)]);
  expect(textOf(html)).toContain('count int, required');
  // The example has all that is required, and no more.
  expect(samplesOn(html, 'HTTP GET').request).toContain('/Fill?count=10&note=text HTTP/1.1');
});
