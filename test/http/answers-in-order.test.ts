import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually';
import { post } from '../support/bindings';
import { send } from '../support/http';
import { metricsAt } from '../support/metrics';
import { slowLog } from '../support/slow-log';
import { expectNothingHeldAfterEach } from '../support/nothing-held';
import { startService, type TestService } from '../support/service';
import { untilWaiting } from '../support/waiting';
import { openWire, PATH, request } from '../support/wire';

const HELLO = request(`GET ${PATH}/HelloWorld`);
const RECORD = `${request(`POST ${PATH}/RecordEvent`, 'Content-Length: 5')}event`;
const CHUNKED = request(`POST ${PATH}/RecordEvent`, 'Transfer-Encoding: chunked');
const CONNECT = request('CONNECT example.org:443');
expectNothingHeldAfterEach();

/** The statuses of all answers, in their order. */
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
const recorded = async ({ log }: TestService) => (await log.stats()).events;

describe('after a request that is recorded, the same connection', () => {
  it.each([
    ['a stray byte', '\x01', [200, 400]],
    ['a header that is too large', request('GET /', `X: ${'x'.repeat(20_000)}`), [200, 431]],
    ['a request to a proxy', CONNECT, [200, 405]],
    ['two Host lines', request('GET /', 'Host: y'), [200, 400]],
    ['two Host lines, a request and a stray byte', `${request('GET /', 'Host: y')}${HELLO}\x01`, [200, 400]],
    ['a chunk without a size', `${CHUNKED}xyz\r\n`, [200, 400]],
    ['the end of the connection', '', [200]],
    ['half a request and the end', 'GET / HT', [200, 400]],
  ])('brings %s: the event is answered first', async (_what, more, expected) => {
    const { log, answer, events } = slowLog();
    const wire = await openWire((await startService({}, log)).url);
    wire.write(RECORD + more);
    wire.socket.end();
    await eventually('the event arrives', () => events() >= 1);
    // What follows has been read and refused, or waits for the answer.
    await delay(50);
    answer();
    expect(statuses(await wire.untilClosed())).toEqual(expected);
  });

  it('brings what is no request again and again, which is reported once', async () => {
    const { log, answer } = slowLog();
    const { url } = await startService({}, log);
    const wire = await openWire(url);
    for (const bytes of [RECORD, '\x01', '\x01']) {
      wire.write(bytes);
      await send(`${url}/HelloWorld`);
    }
    answer();
    expect(statuses(await wire.untilClosed())).toEqual([200, 400]);
    expect((await metricsAt(url)).get('webhook_refusals_total{reason="invalid"}')).toBe(1);
  });

  it('brings half a header: 408 comes after the answer', async () => {
    const { log, answer, events } = slowLog();
    const { url } = await startService({ REQUEST_TIMEOUT: '100ms' }, log);
    const wire = await openWire(url);
    wire.write(`${RECORD}GET / HTTP/1.1\r\n`);
    await eventually('the event arrives', () => events() === 1);
    const refused = async () => (await metricsAt(url)).get('webhook_refusals_total{reason="timeout"}');
    await eventually('it is refused', async () => (await refused()) === 1);
    expect(statuses(await Promise.race([wire.until(/HTTP/), Promise.resolve('')]))).toEqual([]);
    answer();
    expect(statuses(await wire.untilClosed())).toEqual([200, 408]);
  });
});

it.each([
  [`GET ${PATH}/RecordEvent`, 400, ''],
  [`HEAD ${PATH}`, 200, ''],
  ['POST /nowhere', 404, ''],
  [`POST ${PATH}`, 400, '<faultcode>soap:Client</faultcode>'],
])('a body that ends wrongly on %s brings one answer, and nothing is recorded', async (line, status, text) => {
  const service = await startService();
  for (const pause of [0, 50]) {
    const wire = await openWire(service.url);
    wire.write(request(line, 'Content-Type: text/xml', 'Transfer-Encoding: chunked'));
    if (pause > 0) await delay(pause);
    wire.write('5\r\n<a/>\r\n?\r\n\r\n');
    const answer = await wire.untilClosed();
    expect([statuses(answer), answer]).toEqual([[status], expect.stringContaining(text)]);
  }
  expect(await recorded(service)).toBe(0);
});

it.each([RECORD, '\x01'])('what follows an answer that closes the connection is not done: %j', async (more) => {
  const service = await startService();
  const wire = await openWire(service.url);
  wire.write(request(`GET ${PATH}`, 'Host: y') + more);
  expect(statuses(await wire.untilClosed())).toEqual([400]);
  expect(await recorded(service)).toBe(0);
});

it('a body on GET that ends well is read over', async () => {
  const wire = await openWire((await startService()).url);
  wire.write(`${request(`GET ${PATH}/HelloWorld`, 'Content-Length: 5')}event${HELLO}`);
  await wire.until(/Hello World[^]*Hello World/);
});

it('a request that is refused before its 64 KiB arrive keeps its connection', async () => {
  const wire = await openWire((await startService()).url);
  wire.write(request('POST /nowhere', 'Content-Length: 65536'));
  await wire.until(/ 404 /);
  wire.write('x'.repeat(65_536), HELLO);
  await wire.until(/Hello World/);
});

describe('of several requests of a connection', () => {
  it('each begins after the answer before it', async () => {
    const { log, answer, events } = slowLog();
    const service = await startService({}, log);
    const wire = await openWire(service.url);
    wire.write(RECORD, HELLO + RECORD);
    // Comes later than all of them.
    await eventually('an event arrives', () => events() > 0);
    expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
    expect(events()).toBe(1);
    answer();
    expect(statuses(await wire.until(/HTTP[^]*Hello World[^]*HTTP/))).toEqual([200, 200, 200]);
    expect(events()).toBe(2);
  });

  it('none begins after their caller has gone', async () => {
    const { log, answer, events } = slowLog();
    const service = await startService({}, log);
    const wire = await openWire(service.url);
    wire.write(RECORD.repeat(10));
    await eventually('an event arrives', () => events() > 0);
    wire.socket.resetAndDestroy();
    const connections = async () => (await metricsAt(service.url)).get('webhook_connections');
    await eventually('the connection is closed', async () => (await connections()) === 1);
    answer();
    await send(`${service.url}/HelloWorld`);
    expect(events()).toBe(1);
  });

  it('one that is refused and not read leaves the answers before it whole', async () => {
    const service = await startService();
    await post(service.url, 'x'.repeat(4_000_000));
    const wire = await openWire(service.url);
    wire.write(request(`GET ${PATH}?event=1&download=data`) + CONNECT);
    const text = await wire.untilClosed();
    expect(statuses(text)).toEqual([200, 405]);
    expect(text.length).toBeGreaterThan(4_000_000);
  });

  it('1,024 on all connections wait; an ordinary caller notices nothing, and may send 64 again and again', async () => {
    const service = await startService();
    const wires = await Promise.all(Array.from({ length: 16 }, () => openWire(service.url)));
    for (const wire of wires) wire.write(request(`GET ${PATH}/GetEvents?after=0&wait=60s`).repeat(65));
    await untilWaiting(service.url, 16);
    const wire = await openWire(service.url);
    wire.write(HELLO.repeat(2));
    expect(statuses(await wire.untilClosed())).toEqual([200, 503]);
    const other = await openWire(service.url);
    other.write(HELLO);
    await other.until(/Hello World/);
    wires[0]?.socket.destroy();
    await untilWaiting(service.url, 15);
    // Those whose caller has gone wait no more, nor do those that were answered, on whatever connections: there is room for 64.
    other.write(HELLO.repeat(59), request('GET /healthz'));
    await other.until(/\nalive\n/);
    for (const last of [other, await openWire(service.url), await openWire(service.url)]) {
      last.write(HELLO.repeat(60), request(`GET ${PATH}/HelloWorld`, 'Connection: close'));
      expect(statuses(await last.untilClosed())).toEqual(Array(last === other ? 122 : 61).fill(200));
    }
  });

  it('the first 65 of too many are answered, and the next gets 503', async () => {
    const service = await startService();
    const append = service.log.append.bind(service.log);
    jest.spyOn(service.log, 'append').mockImplementation((...events) => delay(0).then(() => append(...events)));
    const wire = await openWire(service.url);
    wire.write(RECORD.repeat(200));
    expect(statuses(await wire.untilClosed())).toEqual([...Array<number>(65).fill(200), 503]);
    expect(await recorded(service)).toBe(65);
    expect((await metricsAt(service.url)).get('webhook_refusals_total{reason="busy"}')).toBe(1);
  });
});
