import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { metricsAt } from '../support/metrics';
import { slowLog } from '../support/slow-log';
import { expectNothingHeld } from '../support/nothing-held';
import { startService } from '../support/service';
import { untilWaiting } from '../support/waiting';
import { openWire } from '../support/wire';

const PATH = '/webhooks/Services/WebHooks.asmx';
const HELLO = `GET ${PATH}/HelloWorld HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const RECORD = `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nevent`;
const CHUNKED = `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`;

/** The statuses of all answers, in their order. */
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe('after a request that is recorded, the same connection', () => {
  it.each([
    ['a stray byte', '\x01', [200, 400]],
    ['a header that is too large', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, [200, 431]],
    ['a request to a proxy', 'CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', [200, 405]],
    ['two Host lines', 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n', [200, 400]],
    ['a chunk without a size', `${CHUNKED}xyz\r\n`, [200, 400]],
    ['the end of the connection', '', [200]],
    ['half a request and the end', 'GET / HT', [200, 400]],
  ])('brings %s: the event is answered first', async (_what, more, expected) => {
    const { log, answer, events } = slowLog();
    const service = await startService({}, log);
    const wire = await openWire(service.url);
    wire.write(RECORD + more);
    wire.socket.end();
    await eventually('the event arrives', () => events() >= 1);
    // What follows has been read and refused, or waits for the answer.
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer();
    const text = await wire.untilClosed();
    expect(statuses(text)).toEqual(expected);
    await expectNothingHeld(service);
  });

  it('brings half a header: 408 comes after the answer', async () => {
    const { log, answer, events } = slowLog();
    const service = await startService({ REQUEST_TIMEOUT: '100ms' }, log);
    const wire = await openWire(service.url);
    wire.write(`${RECORD}GET / HTTP/1.1\r\n`);
    await eventually('the event arrives', () => events() === 1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(statuses(await Promise.race([wire.until(/HTTP/), Promise.resolve('')]))).toEqual([]);
    answer();
    expect(statuses(await wire.untilClosed())).toEqual([200, 408]);
    await expectNothingHeld(service);
  });
});

it.each([
  ['GET', `${PATH}/RecordEvent`, 400],
  ['HEAD', PATH, 400],
  ['POST', '/nowhere', 404],
])('a body that ends wrongly on %s %s brings one answer, and nothing is recorded', async (method, path, status) => {
  const service = await startService();
  for (const pause of [0, 50]) {
    const wire = await openWire(service.url);
    wire.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    wire.write('xyz\r\n\r\n');
    expect(statuses(await wire.untilClosed())).toEqual([status]);
  }
  expect((await service.log.stats()).events).toBe(0);
  await expectNothingHeld(service);
});

it('what follows an answer that closes the connection is not done', async () => {
  const service = await startService();
  const wire = await openWire(service.url);
  wire.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n${RECORD}`);
  expect(statuses(await wire.untilClosed())).toEqual([400]);
  expect((await service.log.stats()).events).toBe(0);
  await expectNothingHeld(service);
});

it('a body on GET that ends well is read over', async () => {
  const service = await startService();
  const wire = await openWire(service.url);
  wire.write(`GET ${PATH}/HelloWorld HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n`, 'event', HELLO);
  await wire.until(/Hello World[^]*Hello World/);
  wire.socket.destroy();
  await expectNothingHeld(service);
});

it('a body that breaks off is refused in the format of the binding, and nothing is recorded', async () => {
  const service = await startService();
  const wire = await openWire(service.url);
  wire.write(
    `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<a/>\r\n?`,
  );
  const text = await wire.untilClosed();
  expect(statuses(text)).toEqual([400]);
  expect(text).toContain('<faultcode>soap:Client</faultcode>');
  expect((await service.log.stats()).events).toBe(0);
  await expectNothingHeld(service);
});

it('a connection may bring 64 requests at once again and again', async () => {
  const service = await startService();
  const wire = await openWire(service.url);
  let answers = 0;
  wire.socket.on('data', (chunk: Buffer) => (answers += statuses(chunk.toString()).length));
  for (let round = 1; round <= 4; round++) {
    wire.write(HELLO.repeat(60));
    await eventually('all are answered', () => answers === 60 * round);
  }
  wire.socket.destroy();
  await expectNothingHeld(service);
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
    expect(statuses(await wire.until(/(?:HTTP[^]*){3}/))).toEqual([200, 200, 200]);
    expect(events()).toBe(2);
    wire.socket.destroy();
    await expectNothingHeld(service);
  });

  it('none begins after their caller has gone', async () => {
    const { log, answer, events } = slowLog();
    const service = await startService({}, log);
    const wire = await openWire(service.url);
    wire.write(RECORD.repeat(10));
    await eventually('an event arrives', () => events() > 0);
    wire.socket.resetAndDestroy();
    await eventually(
      'the connection is closed',
      async () => (await metricsAt(service.url)).get('webhook_connections') === 1,
    );
    answer();
    await expectNothingHeld(service);
    expect(events()).toBe(1);
  });

  it('one that is refused and not read leaves the answers before it whole', async () => {
    const service = await startService();
    await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x'.repeat(4_000_000) });
    const wire = await openWire(service.url);
    wire.write(
      `GET ${PATH}?event=1&download=data HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      'CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    );
    const text = await wire.untilClosed();
    expect(statuses(text)).toEqual([200, 405]);
    expect(text.length).toBeGreaterThan(4_000_000);
    await expectNothingHeld(service);
  });

  it('1,024 on all connections wait; an ordinary caller notices nothing', async () => {
    const service = await startService();
    const wait = `GET ${PATH}/GetEvents?after=0&wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const wires = await Promise.all(Array.from({ length: 16 }, () => openWire(service.url)));
    for (const wire of wires) wire.write(wait.repeat(65));
    await untilWaiting(service.url, 16);
    const wire = await openWire(service.url);
    wire.write(HELLO.repeat(2));
    expect(statuses(await wire.untilClosed())).toEqual([200, 503]);
    const other = await openWire(service.url);
    other.write(HELLO);
    await other.until(/Hello World/);
    for (const { socket } of wires) socket.destroy();
    await untilWaiting(service.url, 0);
    // Those whose callers have gone wait no more.
    other.write(HELLO.repeat(60), HELLO.replace('localhost', 'localhost\r\nConnection: close'));
    expect(statuses(await other.untilClosed())).toEqual(Array(62).fill(200));
    await expectNothingHeld(service);
  });
});

it('answers the first 65 of too many requests, and the next with 503', async () => {
  const service = await startService();
  const append = service.log.append.bind(service.log);
  jest.spyOn(service.log, 'append').mockImplementation(async (...events) => {
    await nextTurn();
    return append(...events);
  });
  const wire = await openWire(service.url);
  wire.write(RECORD.repeat(200));
  const got = statuses(await wire.untilClosed());
  expect(got).toEqual([...Array<number>(65).fill(200), 503]);
  expect((await service.log.stats()).events).toBe(65);
  expect((await metricsAt(service.url)).get('webhook_refusals_total{reason="busy"}')).toBe(1);
  await expectNothingHeld(service);
});
