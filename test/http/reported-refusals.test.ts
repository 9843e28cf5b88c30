import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Gauge } from 'prom-client';
import { startApp } from '../../src/app';
import { readConfig } from '../../src/config/config';
import type { EventLog } from '../../src/log/event-log';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { createLogger } from '../../src/telemetry/logger';
import { BINDINGS, requestOf, type BindingName } from '../support/bindings';
import { eventually } from '../support/eventually';
import { send, type Question } from '../support/http';
import { metricOf } from '../support/metrics';
import { openWire } from '../support/wire';

type App = Awaited<ReturnType<typeof startApp>>;

interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}

const KEYS = { RECORD_KEYS: 'record-key-0123456789', READ_KEYS: 'read-key-0123456789abc' };

/** The service in this process, with all that it tells its operator. */
async function start(variables: Record<string, string> = {}) {
  const lines: Line[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const log = openMemoryLog();
  const app = await startApp(readConfig({ PORT: '0', ...variables }), log, logger);
  running.push({ app, log });
  const metric = (name: string) => metricOf(app, name);
  return { app, lines, of: (msg: string) => lines.filter((line) => line.msg === msg), metric };
}

const running: { readonly app: App; readonly log: EventLog }[] = [];
afterEach(() => Promise.all(running.splice(0).map(({ app, log }) => app.close().then(() => log.close()))));

/** The target is added to the address of the endpoint, or to that of the server if it is one of SERVER_PATHS. */
type Case = [what: string, variables: Record<string, string>, target: string, question: Question, status: number];

const call = (binding: BindingName, headers: Record<string, string>, operation = 'RecordEvent') => {
  const { path, ...question } = requestOf(binding, operation);
  return [path, { ...question, headers: { ...question.headers, ...headers } }] as const;
};
const WRONG = { 'X-API-Key': 'a-wrong-key' };
const SPOILT = { 'X-API-Key': KEYS.READ_KEYS, 'X-Forwarded-Proto': 'gopher' };
const off = { PROTOCOLS: 'HttpGet' };
const unlisted = { DOCUMENTATION: 'false' };
const soap = { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body: '<a/>' };

const CASES: readonly Case[] = [
  ...BINDINGS.flatMap((binding): Case[] => [
    [`a wrong key over ${binding}`, KEYS, ...call(binding, WRONG), 401],
    [`a foreign name over ${binding}`, {}, ...call(binding, { Host: 'evil.example' }), 403],
    [`an unknown operation over ${binding}`, {}, ...call(binding, {}, 'Nothing'), 500],
    [`a foreign page over ${binding}`, {}, ...call(binding, { Origin: 'http://evil.example' }), 403],
  ]),
  ['a wrong key for the metrics', KEYS, '/metrics', { headers: WRONG }, 401],
  ['a wrong key for the pages', KEYS, '?events', { headers: WRONG }, 401],
  ['a foreign page for the pages', {}, '?event=1', { headers: { 'Sec-Fetch-Site': 'cross-site' } }, 403],
  ['SOAP where it is off', off, '', soap, 405],
  ['a document where they are off', unlisted, '?WSDL', {}, 500],
  ['HTTP POST where it is off', off, '/RecordEvent', { method: 'POST' }, 500],
  ['PUT on the endpoint', {}, '', { method: 'PUT' }, 405],
  ['DELETE on a page of the events', {}, '?events', { method: 'DELETE' }, 405],
  ['PROPFIND on an admin page', {}, '/healthz', { method: 'PROPFIND' }, 405],
  ['the page of an operation that there is not', {}, '?op=Nothing', {}, 404],
  ['a time that is none, for the list of events', {}, '?events&from=never', {}, 400],
  ['a page that a proxy spoils', { ...KEYS, TRUST_PROXY: '1' }, '?events', { headers: SPOILT }, 400],
  ['HEAD on an operation', {}, '/RecordEvent', { method: 'HEAD' }, 405],
  [
    'a handshake that is not granted',
    {},
    '/RecordEvent',
    { method: 'OPTIONS', headers: { 'WebHook-Request-Origin': 'x.example' } },
    405,
  ],
  ['an address with nothing', {}, '/nothing', {}, 404],
  ['an operation that there is not', {}, '/%E0%A4', {}, 500],
  ['a host that is none', {}, '', { headers: { Host: 'a b' } }, 400],
];
const SERVER_PATHS = /^\/(?:metrics|healthz|nothing)/;

it.each(CASES)(
  '%s is counted, listed and logged, and counts for RATE_LIMIT, once',
  async (_what, variables, target, question, status) => {
    const { app, of, metric } = await start({ ...variables, RATE_LIMIT: '2/1h' });
    const address = SERVER_PATHS.test(target) ? new URL(target, app.url).href : app.url + target;
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await send(address, question)).status);
    expect(statuses).toEqual([status, status, 429]);
    await eventually('all are reported', () => of('refused').length === 3);
    expect(of('refused')[0]).toMatchObject({ level: 'warn', remoteAddress: '127.0.0.1' });
    expect(of('refused').map(({ refusal }) => refusal === 'rate')).toEqual([false, false, true]);
    const listed = [429, status, status].map((each) => ({ status: each, method: question.method ?? 'GET' }));
    expect([...app.refusals().calls].sort((a, b) => Number(b.status) - Number(a.status))).toMatchObject(
      listed.sort((a, b) => b.status - a.status),
    );
    expect(await metric('webhook_refusals_total')).toBe(3);
    // So that no key can be guessed, not even the right one is taken now.
    const headers = { ...question.headers, 'X-API-Key': KEYS.RECORD_KEYS, Authorization: `Bearer ${KEYS.READ_KEYS}` };
    expect((await send(address, { ...question, headers })).status).toBe(429);
  },
);

it('what is refused on the admin port is counted, listed, logged and limited too', async () => {
  const { app, of, metric } = await start({ ADMIN_PORT: '0', RATE_LIMIT: '3/1h' });
  const ask = async (path: string, method: string) => (await send(new URL(path, app.adminUrl).href, { method })).status;
  expect([await ask('/metrics', 'PUT'), await ask('/nothing', 'GET'), await ask('/readyz', 'PATCH')]).toEqual([
    405, 404, 405,
  ]);
  expect(await ask('/metrics', 'DELETE')).toBe(429);
  expect(of('refused')).toHaveLength(4);
  expect(await metric('webhook_refusals_total')).toBe(4);
  expect(app.refusals().calls).toHaveLength(4);
  // What is right is not counted.
  for (const path of ['/metrics', '/readyz', '/healthz', '/']) expect(await ask(path, 'GET')).toBe(200);
});

it.each([
  ['400', 'Transfer-Encoding: gzip\r\n'],
  ['417', 'Expect: magic\r\nContent-Length: 5\r\n'],
  // With one more, Node refuses them itself from 22 on.
  ['431', 'a:\r\n'.repeat(100)],
])('what cannot be read on counts for RATE_LIMIT, beyond which the answer says so: %s', async (status, fields) => {
  const { app } = await start({ RATE_LIMIT: '1/1h' });
  for (const expected of [status, '429']) {
    const wire = await openWire(app.url);
    wire.write(`GET / HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`);
    const header = await wire.until(/\r\n\r\n/);
    expect(header).toMatch(new RegExp(`^HTTP/1.1 ${expected} [^]*\r\nConnection: close\r\n`));
  }
});

it('a metric that fails is reported', async () => {
  const { app, of } = await start();
  const collect = () => {
    throw new Error('the metric failed');
  };
  new Gauge({ name: 'failing', help: 'Fails', registers: [app.metrics], collect });
  expect((await send(new URL('/metrics', app.url).href)).status).toBe(500);
  expect(of('failed')).toMatchObject([{ level: 'error', path: '/metrics', reason: 'the metric failed' }]);
  expect(app.refusals().calls).toMatchObject([{ status: 500, reason: 'the metric failed' }]);
});

it('an event that was forgotten, and the icon for which browsers ask, are no refusals', async () => {
  const { app, of } = await start({ ADMIN_PORT: '0' });
  expect((await send(`${app.url}?event=99`)).status).toBe(404);
  for (const url of [app.url, app.adminUrl]) expect((await send(new URL('/favicon.ico', url).href)).status).toBe(404);
  expect(of('refused')).toEqual([]);
  expect(app.refusals().calls).toEqual([]);
});

it('a connection that a browser opens and does not use is answered, and no refusal', async () => {
  const { app, of } = await start({ REQUEST_TIMEOUT: '100ms' });
  expect(await (await openWire(app.url)).untilClosed()).toMatch(/^HTTP\/1.1 408 /);
  expect(of('refused')).toEqual([]);
  const slow = await openWire(app.url);
  slow.write('G');
  expect(await slow.untilClosed()).toMatch(/^HTTP\/1.1 408 /);
  expect(of('refused')).toMatchObject([{ refusal: 'timeout', remoteAddress: '127.0.0.1' }]);
});

describe('the access log', () => {
  it.each([
    ['a reset', 'within a message', (socket: Socket) => socket.resetAndDestroy()],
    ['an end', 'within a message', (socket: Socket) => socket.end()],
    ['a reset', 'before the answer began', (socket: Socket) => socket.resetAndDestroy()],
    ['an end', 'before the answer began', (socket: Socket) => socket.end()],
  ] as const)('of who hung up with %s %s has the address and what was called', async (way, when, hangUp) => {
    const { app, of, metric } = await start({ ACCESS_LOG: 'true' });
    const { pathname } = new URL(app.url);
    const wire = await openWire(app.url);
    const isSoap = when === 'within a message';
    wire.write(
      isSoap
        ? `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\n` +
            'SOAPAction: "http://tempuri.org/RecordEvent"\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n'
        : `GET ${pathname}/GetEvents?after=0&wait=20s HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    if (isSoap) await wire.until(/100 Continue/);
    else await eventually('the call waits', async () => (await metric('webhook_calls_waiting')) === 1);
    hangUp(wire.socket);
    await eventually('the line is written', () => of('answered').length > 0);
    const [binding, operation] = isSoap ? ['soap11', 'RecordEvent'] : ['httpget', 'GetEvents'];
    const [line] = of('answered');
    expect(line).toMatchObject({ remoteAddress: '127.0.0.1', binding, operation, complete: false });
    // Who has ended its side may still read, and is answered.
    if (isSoap) expect(line?.status).not.toBe(200);
    else expect(line?.status).toBe(way === 'a reset' ? undefined : 200);
  });

  it('says that a caller which waited took the whole answer', async () => {
    const { app, of } = await start({ ACCESS_LOG: 'true' });
    for (const headers of [{}, { Connection: 'close' }])
      expect((await send(`${app.url}/GetEvents?after=0&wait=100ms`, { headers })).status).toBe(200);
    await eventually('the lines are written', () => of('answered').length === 2);
    expect(of('answered')).toMatchObject(Array(2).fill({ status: 200, complete: true }));
  });
});

it('a caller that speaks TLS to a port for plain HTTP is counted and named', async () => {
  const { app, of, metric } = await start();
  const { hostname: host, port } = new URL(app.url);
  await expect(once(connectTls({ host, port: Number(port) }), 'secureConnect')).rejects.toThrow('wrong version number');
  const reason = expect.stringMatching(/^The caller speaks TLS: its address must begin with http:/) as unknown;
  expect(of('refused')).toMatchObject([{ remoteAddress: '127.0.0.1', refusal: 'invalid', reason }]);
  expect(await metric('webhook_refusals_total')).toBe(1);
});
