import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { StoredEvent } from '../../../../src/events/stored-event';
import { requestOf } from '../../../support/bindings';
import { send, type Question } from '../../../support/http';
import { codeOf } from '../../../support/page';
import { startService, type TestService } from '../../../support/service';
import { useTemporaryFolder } from '../../../support/temporary-folder';

const FORM = 'application/x-www-form-urlencoded';
const XML = `<order id="1"><note>it's "here" &amp; $(touch there)</note></order>`;

/** Header fields of the connection and of the message on its way. */
const MAY_DIFFER = new Set(['content-type', 'content-length', 'host', 'connection']);

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

const get = (query: string) => send(service.url + query);
const record = (question: Question & { query?: string } = {}) =>
  send(`${service.url}/RecordEvent${question.query ?? ''}`, { method: 'POST', ...question });
const stored = (): Promise<StoredEvent[]> => service.log.scan({ after: 0, limit: 10 });

describe("the curl command on an event's page sends the same again", () => {
  const folder = useTemporaryFolder();
  const again = async (): Promise<void> => {
    const command = codeOf((await get('?event=1')).body, 'curl');
    await promisify(execFile)('sh', ['-c', command], { cwd: folder.path });
  };
  it.each<[string, Question & { query?: string }]>([
    [
      'JSON',
      {
        headers: { 'Content-Type': 'application/json; charset=utf-8' },
        body: `{"a":"it's \`x\` $HOME \\\\ !","n":1.0}`,
      },
    ],
    ['a form', { headers: { 'Content-Type': FORM }, body: 'a=1&b=x+y&b=%26%C3%A9' }],
    [
      'text in another character set',
      { headers: { 'Content-Type': 'text/plain;charset=iso-8859-1' }, body: Buffer.from('caf\u00e9', 'latin1') },
    ],
    ['text with line breaks', { headers: { 'Content-Type': 'text/plain' }, body: "@file\nit's\n\t'''\n" }],
    ['text that cannot be seen', { headers: { 'Content-Type': 'text/plain' }, body: 'a\u0000\u001B[2J\u202E' }],
    ['bytes', { headers: { 'Content-Type': 'image/png' }, body: Buffer.from([0, 255, 10, 13, 39]) }],
    ['a body without a type', { body: 'hello' }],
    ['a query and no body', { query: '?a=[1-3]&b={x,y}&c=%27' }],
    ['nothing', {}],
    [
      'a header field with quotes',
      { headers: { 'X-Note': `it's "quoted"`, 'Content-Type': 'text/plain', 'X-Empty': '' }, body: 'x' },
    ],
  ])('of %s', async (_what, question) => {
    await record(question);
    await again();
    const [first, second] = await stored();
    expect(second?.data).toBe(first?.data);
    const [one, two] = [first, second].map(
      (event) => JSON.parse(event?.arrival ?? '') as { path: string; headers: object },
    );
    expect(two?.path).toBe(one?.path);
    const others = Object.entries(one?.headers ?? {}).filter(([name]) => !MAY_DIFFER.has(name));
    expect(two?.headers).toMatchObject(Object.fromEntries(others));
  });

  it('of a GET', async () => {
    await send(`${service.url}/RecordEvent?order=17&tag=a&tag=%27b%27&x=[1]`);
    await again();
    const [first, second] = await stored();
    expect(second?.data).toBe(first?.data);
  });

  it.each(['soap11', 'soap12'] as const)('of a message over %s', async (binding) => {
    const { path, ...question } = requestOf(binding, 'RecordEvent', XML);
    await send(service.url + path, question);
    await again();
    const [first, second] = await stored();
    expect(first?.data).toContain('order');
    expect(second?.data).toBe(first?.data);
  });

  it('of a batch: each event alone, as a CloudEvent', async () => {
    const events = [1, 2].map((id) => JSON.parse(cloudEvent(`t${String(id)}`)) as object);
    await record({ headers: { 'Content-Type': 'application/cloudevents-batch+json' }, body: JSON.stringify(events) });
    const { body } = await get('?event=2&download=request');
    expect(JSON.parse(body)).toMatchObject({ type: 't2', data: { a: 1 } });
    expect(JSON.parse(body)).not.toHaveProperty('binding');
    expect(codeOf((await get('?event=2')).body, 'curl')).toContain("'content-type: application/cloudevents+json");
  });

  it('of a compressed body, as it is without compression', async () => {
    const headers = { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
    await record({ headers, body: gzipSync('order 17') });
    const command = codeOf((await get('?event=1')).body, 'curl');
    expect(command).toContain("--data-raw 'order 17'");
    expect(command).not.toContain('content-encoding');
    await again();
    const [first, second] = await stored();
    expect(second?.data).toBe(first?.data);
  });

  it('of a target with what curl would cut or expand', async () => {
    const target = `/RecordEvent?a=[b]&c="d"&e={f}`;
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.end(
      `GET ${new URL(service.url).pathname}${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    await once(socket.resume(), 'close');
    await again();
    const [first, second] = await stored();
    expect(first?.data).toContain('[b]');
    expect(second?.data).toBe(first?.data);
  });

  it.each<[string, Question]>([
    ['structured', { headers: { 'Content-Type': 'application/cloudevents+json' }, body: cloudEvent('t') }],
    [
      'binary',
      {
        headers: {
          'ce-specversion': '1.0',
          'ce-id': '1',
          'ce-source': '/s',
          'ce-type': 't',
          'Content-Type': 'text/plain',
        },
      },
    ],
  ])('of a CloudEvent in %s mode, of which it says that it would not be recorded again', async (_mode, question) => {
    await record(question);
    await again();
    expect(await stored()).toHaveLength(1);
    expect((await get('?event=1')).body).toContain('under its source and id, and would not record it again');
    await record({ body: 'x' });
    expect((await get('?event=2')).body).not.toContain('would not record it again');
  });

  it.each<[string, Question]>([
    ['an Idempotency-Key', { headers: { 'Idempotency-Key': 'k' }, body: 'x' }],
    ['a webhook-id', { headers: { 'webhook-id': 'w', 'Content-Type': 'text/plain' }, body: 'x' }],
    ['a key of GitHub', { headers: { 'X-GitHub-Delivery': 'g', 'X-GitHub-Event': 'push' }, body: '{}' }],
    ['a structured CloudEvent', { headers: { 'Content-Type': 'application/cloudevents+json' }, body: cloudEvent('t') }],
    ['a binary CloudEvent', { headers: { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' } }],
  ])('with a fresh id, so that %s is recorded again', async (_what, question) => {
    await record(question);
    const command = codeOf((await get('?event=1')).body, 'fresh-curl');
    for (let i = 0; i < 2; i++) await promisify(execFile)('sh', ['-c', command]);
    const [first, second, ...more] = await stored();
    expect(more).toEqual([]);
    expect(second?.data).toBe(first?.data);
    const typeOf = (event?: StoredEvent) => (JSON.parse(event?.attributes ?? '{}') as { type: unknown }).type;
    expect(typeOf(second)).toBe(typeOf(first));
  });

  it.each<[string, Question]>([
    ['nothing keeps it from being recorded again', { body: 'x' }],
    [
      'the id is in a body that has to be saved',
      { headers: { 'Content-Type': 'application/cloudevents+json' }, body: cloudEvent('t', 'x'.repeat(10_000)) },
    ],
  ])('without a fresh id where %s', async (_what, question) => {
    await record(question);
    expect((await get('?event=1')).body).not.toContain('fresh-curl');
  });

  it('of a large body, which is saved first', async () => {
    await record({ headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(10_000) });
    const page = (await get('?event=1')).body;
    expect(page).toContain('First save the body');
    await writeFile(join(folder.path, 'event-1.body'), (await get('?event=1&download=request')).body);
    await again();
    const [first, second] = await stored();
    expect(second?.data).toBe(first?.data);
  });

  it('with a place for the key, where one is needed', async () => {
    const key = 'a-key-to-record-with';
    const guarded = await startService({ RECORD_KEYS: key });
    await send(`${guarded.url}/RecordEvent`, { method: 'POST', headers: { 'X-API-Key': key }, body: 'x' });
    const command = codeOf((await send(`${guarded.url}?event=1`)).body, 'curl');
    expect(command).toContain("-H 'x-api-key: KEY'");
    expect(command).not.toContain(key);
  });
});

function cloudEvent(type: string, a: unknown = 1): string {
  return JSON.stringify({
    specversion: '1.0',
    id: `${type.slice(0, 50)}-1`,
    source: '/s',
    type,
    subject: type,
    data: { a },
  });
}
