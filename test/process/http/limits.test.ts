import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { ask, callOperation, post } from '../../support/bindings';
import { eventually, succeeds } from '../../support/eventually';
import { metricsAt } from '../../support/metrics';
import { expectNothingHeldAfterEach } from '../../support/nothing-held';
import { startService, type TestService } from '../../support/service';
import { openWire, PATH, sendRaw } from '../../support/wire';

const POST = `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n`;
expectNothingHeldAfterEach();

const metric = async ({ url }: TestService, name: string) => (await metricsAt(url)).get(name);
const timeouts = (service: TestService) => metric(service, 'webhook_refusals_total{reason="timeout"}');
const connections = (service: TestService) => metric(service, 'webhook_connections');

const GZIP = gzipSync('event');
it.each<[string, string, ...(string | Buffer)[]]>([
  ['half a body', 'Content-Length: 10', '123'],
  // What is decoded ends, and the request does not.
  ['what is gzip, and more', `Content-Encoding: gzip\r\nContent-Length: ${String(GZIP.length + 10)}`, GZIP, '\0'],
])('REQUEST_TIMEOUT is answered with 408 after %s', async (_what, fields, ...body) => {
  const service = await startService({ REQUEST_TIMEOUT: '1s' });
  const answer = await sendRaw(service.url, `${POST}${fields}\r\n\r\n`, ...body);
  expect(answer).toMatch(/^HTTP\/1.1 408 [^]*its header within 1 s, all of it within 1 s \(REQUEST_TIMEOUT\)/);
  expect([await timeouts(service), (await service.log.stats()).events]).toEqual([1, 0]);
});

it('MAX_CONNECTIONS is answered with 503 until a connection is closed', async () => {
  const { url } = await startService({ MAX_CONNECTIONS: '3' });
  const wires = await Promise.all([openWire(url), openWire(url), openWire(url)]);
  const answer = await (await openWire(url)).untilClosed();
  expect(answer).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*more than 3 \(MAX_CONNECTIONS\)\.\n$/);
  for (const { socket } of wires) socket.destroy();
  await eventually('a connection is taken again', () => succeeds(callOperation(url, 'httpget', 'HelloWorld')));
});

describe('MAX_BODY_MEMORY', () => {
  const limits = { MAX_BODY_MEMORY: '1048576', MAX_REQUEST_BYTES: '1000000' };
  const large = 'x'.repeat(900_000);
  const compressed = gzipSync(randomBytes(900_000));

  it.each([
    ['a length', 'Content-Length: 1000000', large],
    ['chunks', 'Transfer-Encoding: chunked', `${large.length.toString(16)}\r\n${large}`],
    [
      'compression',
      `Content-Length: ${String(compressed.length)}\r\nContent-Encoding: gzip`,
      compressed.subarray(0, -8),
    ],
  ])('is answered with 503 for bodies with %s, while small ones are read', async (_how, fields, body) => {
    const service = await startService(limits);
    const wires = await Promise.all([openWire(service.url), openWire(service.url)]);
    for (const wire of wires) wire.write(`${POST}${fields}\r\n\r\n`, body);
    // Whichever of the two came last has no room.
    const text = await Promise.race(wires.map((wire) => wire.untilClosed()));
    expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*more than 1048576 bytes together \(MAX_BODY_MEMORY\)\.\n$/);
    expect((await ask(service.url, 'soap11', 'RecordEvent')).status).toBe(200);
    for (const { socket } of wires) socket.destroy();
    await eventually('the connections are closed', async () => (await connections(service)) === 1);
    await eventually('a large body is taken again', async () => (await post(service.url, large)).status === 200);
  });

  it('counts what a compressed body becomes', async () => {
    const { url } = await startService(limits);
    const record = async () => (await post(url, gzipSync(large), { 'Content-Encoding': 'gzip' })).status;
    const { socket } = await openWire(url);
    socket.write(`${POST}Content-Length: 300000\r\n\r\n${'x'.repeat(200_000)}`);
    await eventually('there is no room', async () => (await record()) === 503);
    socket.destroy();
    await eventually('there is room again', async () => (await record()) === 200);
    // What is answered is given back.
    for (let i = 0; i < 3; i++) expect(await record()).toBe(200);
  });
});
