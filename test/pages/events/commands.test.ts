import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requestOf } from '../../support/bindings';
import { useEventsPages } from '../../support/events-pages';
import { newEvent } from '../../support/events';
import { send, type Question } from '../../support/http';
import { ANY_SHELL, codeOf } from '../../support/page';
import { startService, useService } from '../../support/service';
import { startTarget, type Target } from '../../support/target';
import { useTemporaryFolder } from '../../support/temporary-folder';
import { runToolHere } from '../../support/tool-here';

/** Header fields of the connection and of the message on its way. */
const MAY_DIFFER = new Set(['content-type', 'content-length', 'host', 'connection', 'accept-encoding']);

const record = (url: string, { path = '', ...question }: Question & { path?: string } = {}) =>
  send(`${url}/RecordEvent${path}`, { method: 'POST', ...question });

describe('the curl command on the page of an event', () => {
  const folder = useTemporaryFolder();
  const service = useService({ RECORD_PATHS: 'true' });
  afterAll(() => service.stop());

  /** The page of the last event, or a download from it. */
  const ofLast = async (download = '') =>
    (await send(`${service.url}?event=${String(await service.log.newest())}${download}`)).body;

  it.each<[string, Question & { path?: string }]>([
    ['a form', { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'b=1&a=x+y&b=2' }],
    ['text', { headers: { 'Content-Type': 'text/plain' }, body: '@file, #17 (new)' }],
    ['a query and no body', { path: '?a=1&b=2' }],
    ['a GET', { method: 'GET', path: '?order=17&tag=a&tag=b' }],
    ['a DELETE below RecordEvent', { method: 'DELETE', path: '/orders/17' }],
    ['nothing', {}],
    ['header fields', { headers: { 'X-Note': 'one, two; (three)', 'X-Empty': '' }, body: 'x' }],
    [
      'JSON, from the download of its data',
      { headers: { 'Content-Type': 'application/json' }, body: '{"a": "%PATH%"}' },
    ],
    ['a long text', { headers: { 'Content-Type': 'text/plain' }, body: 'x\n'.repeat(5000) }],
  ])('sends %s again, in one line for any shell', async (_what, question) => {
    await record(service.url, question);
    const before = await service.log.newest();
    const command = codeOf(await ofLast(), 'curl-command');
    expect(command).toMatch(ANY_SHELL);
    await writeFile(join(folder.path, /"@(.*)"$/.exec(command)?.[1] ?? 'none'), await ofLast('&download=data'));
    await promisify(execFile)('sh', ['-c', command], { cwd: folder.path });
    const [first, second] = (await service.log.scan({ after: before - 1, limit: 10 })).map(({ data, arrival }) => {
      const { path, method, headers } = JSON.parse(arrival) as { path: string; method: string; headers: object };
      const others = Object.entries(headers).filter(([name]) => !MAY_DIFFER.has(name));
      return { data, path, method, headers: Object.fromEntries(others) };
    });
    expect(second).toMatchObject(first ?? {});
  });

  it.each<[string, Question & { path?: string }]>([
    ['a quote in a header field', { headers: { 'User-Agent': "it's; calc #" }, body: 'x' }],
    ['a variable of PowerShell', { headers: { 'X-A': '$env:PATH' }, body: 'x' }],
    ['what curl expands', { path: '?a=[1-3]' }],
    ['a string of JSON', { headers: { 'Content-Type': 'application/json' }, body: '"%PATH%"' }],
    ['a large text', { headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(1100 * 1024) }],
  ])('is not there for %s, which the tool sends', async (_what, question) => {
    await record(service.url, question);
    const body = await ofLast();
    expect(body).not.toContain('curl-command');
    expect(body).toContain('There is no command for curl');
    expect(codeOf(body, 'as-received-command')).toMatch(ANY_SHELL);
  });

  it('is not there for a message over SOAP, nor for an import that curl would read as files or another host', async () => {
    const { path, ...question } = requestOf('soap11', 'RecordEvent', '<a/>');
    await send(service.url + path, question);
    expect(await ofLast()).not.toContain('curl-command');
    const attributes = '{"id":"i","type":"t","binding":"httppost"}';
    for (const arrival of [
      { method: 'POST', path: '@example.com/x', headers: { host: 'h' } },
      { method: 'POST', path: '/x', headers: { host: 'h', '@secrets': 'x' } },
    ]) {
      await service.log.append(newEvent({ attributes, data: '"data":"x"', arrival: JSON.stringify(arrival) }));
      expect(await ofLast()).not.toContain('curl-command');
    }
  });

  it('has a place for the key, where one is needed, and none of the fields that steer a target', async () => {
    const key = 'a-key-to-record-with';
    const guarded = await startService({ RECORD_KEYS: key });
    expect((await send(`${guarded.url}?events`)).body).toContain('curl -H "X-API-Key: KEY" -d');
    const headers = { 'X-API-Key': key, 'X-Forwarded-For': '1.2.3.4', X_Real_IP: '1.2.3.4' };
    await send(`${guarded.url}/RecordEvent`, { method: 'POST', headers, body: 'x' });
    const command = codeOf((await send(`${guarded.url}?event=1`)).body, 'curl-command');
    expect(command).toContain('-H "x-api-key: KEY"');
    expect(command).not.toMatch(/a-key-to|1\.2\.3\.4/);
    await guarded.stop();
  });
});

describe('the command that forwards what a page shows', () => {
  const folder = useTemporaryFolder();
  let target: Target;
  beforeEach(async () => {
    target = await startTarget();
  });
  afterEach(() => target.close());
  const { service, page, record: recordBody, recordCloudEvent } = useEventsPages();
  beforeEach(() => recordBody('x'));

  /** The arguments of the command on a page, when a shell has read it. */
  const argumentsOn = async (query: string, id = 'forward-command') => {
    const body = await page(query);
    const command = codeOf(body, id);
    expect(command).toMatch(ANY_SHELL);
    const script = `tool() { printf '%s\\0' "$@"; }\n${command.replace(/^npx asmx-webhook events/, 'tool')}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script]);
    const args = stdout.split('\0').slice(0, -1);
    expect([...args.slice(0, 2), ...args.slice(-2)]).toEqual(['forward', 'URL', '--from', service().url]);
    return args;
  };
  /** The bodies that it posts. */
  const posted = async (query: string, id?: string) => {
    const [, , ...args] = await argumentsOn(query, id);
    expect(await runToolHere(['forward', target.url, ...args], {}, folder.path)).toMatchObject({ code: 0 });
    return target.received.splice(0).map(({ body }) => body.toString());
  };

  it.each([
    ['an event', '?event=1', ['x']],
    ['all events, where the list is not narrowed', '?events', ['x', 'y']],
  ])('has %s', async (_what, query, bodies) => {
    await recordBody('y');
    expect(await posted(query, 'as-received-command')).toEqual(bodies);
    expect((await posted(query)).map((body) => (JSON.parse(body) as { data: unknown }).data)).toEqual(bodies);
  });

  const withType = (type: string) => recordCloudEvent({ type, data: '-x, y' });

  it('has the filters of the search', async () => {
    await withType('com.example.order');
    expect(await posted(`?events&text=${encodeURIComponent('-x, y')}`)).toHaveLength(1);
    const filters = `type=com.example.order&sender=127.0.0.1&text=${encodeURIComponent('-x, y')}&binding=httppost`;
    const times = 'from=2020-01-02T03:04&to=2120-01-02T03:04:05.678';
    expect((await argumentsOn(`?events&${filters}&${times}`)).slice(2, -2)).toEqual([
      '--text=-x, y',
      '--type=com.example.order',
      '--binding=httppost',
      '--sender=127.0.0.1',
      '--since=2020-01-02T03:04:00.000Z',
      '--until=2120-01-02T03:04:05.678Z',
    ]);
  });

  it('is not there for a search that finds nothing or that shells read differently', async () => {
    const unsafe = ["'; calc #", '$(id)', '`id`', '!!', '%PATH%', 'a"b'];
    for (const type of unsafe) await withType(type);
    for (const type of [...unsafe, 'nothing-has-this']) {
      const body = await page(`?events&type=${encodeURIComponent(type)}`);
      expect([type, body.includes('forward-command')]).toEqual([type, false]);
    }
    expect(await page('?event=1')).toContain('forward-command');
  });

  it('names the sender as which the tool signs its requests anew', async () => {
    await recordBody('x', { 'X-Shopify-Topic': 'orders/create' });
    for (const query of ['?event=2', '?events&fromsender=shopify'])
      expect(await page(query)).toContain('<code>--sign shopify=FILE</code>');
    expect(codeOf(await page('?events&fromsender=shopify'), 'forward-command')).toContain('"--from-sender=shopify"');
    expect(await page('?events')).toContain('<code>--sign SENDER=FILE</code>');
  });
});
