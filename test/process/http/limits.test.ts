import type { StoredEvent } from '../../../src/events/stored-event';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { openMemoryLog } from '../../../src/log/memory/event-log';
import { BINDINGS, callOperation, requestOf, type BindingName } from '../../support/bindings';
import { send, type Answer } from '../../support/http';
import { eventually } from '../../support/eventually';
import { metricsAt } from '../../support/metrics';
import { expectNothingHeld } from '../../support/nothing-held';
import { openConnection, sendRaw, untilClosed } from '../../support/raw';
import { startService } from '../../support/service';

const PATH = '/webhooks/Services/WebHooks.asmx';

const call = (url: string, binding: BindingName, headers: Record<string, string> = {}): Promise<Answer> => {
  const { path, ...question } = requestOf(binding, 'RecordEvent');
  return send(url + path, { ...question, headers: { ...question.headers, ...headers } });
};

function expectRefusal(answer: Answer, binding: BindingName, status: number, limit: string): void {
  expect(answer.status).toBe(status);
  expect(answer.body).toContain(limit);
  expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  if (binding === 'soap11') expect(answer.body).toContain('<faultcode>soap:Server</faultcode>');
  if (binding === 'soap12') expect(answer.body).toContain('<soap:Value>soap:Receiver</soap:Value>');
}

describe('the limit', () => {
  it('of 16 KiB in a header is answered with 431', async () => {
    const service = await startService();
    const answer = await sendRaw(
      service.url,
      `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 431 [\s\S]*more than 100 fields or 16384 bytes\.\n$/);
    await expectNothingHeld(service);
  });

  it('of 1,000 characters of a Content-Type and 255 of a Host holds over every binding with a body', async () => {
    const service = await startService();
    const type = `a/b;p=x${' '.repeat(12_000)}x`;
    for (const path of ['', '/RecordEvent']) {
      const answer = await send(service.url + path, { method: 'POST', headers: { 'Content-Type': type }, body: 'x' });
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('more than 1000 characters')]);
    }
    const hosts = [`${'a.'.repeat(127)}a`, `${'a.'.repeat(127)}aa`];
    const answers = await Promise.all(hosts.map((Host) => send(`${service.url}/HelloWorld`, { headers: { Host } })));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    await expectNothingHeld(service);
  });

  // What is decoded ends, and the request does not.
  const beyond = (coded: Buffer): Buffer => {
    const fields = `Content-Encoding: gzip\r\nContent-Length: ${String(coded.length + 10)}\r\n`;
    const head = `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
    return Buffer.concat([Buffer.from(head), coded, Buffer.from('\0')]);
  };

  // The time-outs take their time; they pass side by side.
  it.concurrent.each<[string, string | Buffer]>([
    ['for half a header', `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nX-Slow: `],
    ['with nothing sent', ''],
    ['for half a body', `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n123`],
    ['after what is gzip', beyond(gzipSync('event'))],
  ])('REQUEST_TIMEOUT, %s, is answered with 408', async (_how, request) => {
    const service = await startService({ REQUEST_TIMEOUT: '1s' });
    const answer = await sendRaw(service.url, request);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toContain('its header within 1 s, all of it within 1 s (REQUEST_TIMEOUT)');
    const reported = request === '' ? 0 : 1;
    expect((await metricsAt(service.url)).get('webhook_refusals_total{reason="timeout"}')).toBe(reported);
    expect((await service.log.stats()).events).toBe(0);
    await service.stop();
  });

  it.concurrent(
    'REQUEST_TIMEOUT closes the connection of who does not take an answer, and of who takes it in drops',
    async () => {
      const service = await startService({
        REQUEST_TIMEOUT: '2s',
        GET_EVENTS_MAX_BYTES: '67108864',
        MAX_BODY_MEMORY: '67108864',
      });
      for (let i = 0; i < 5; i++)
        await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x'.repeat(4_000_000) });
      const idle = await openConnection(service.url);
      const drops = await openConnection(service.url);
      for (const socket of [idle, drops]) {
        socket.pause();
        socket.write(`GET ${PATH}/GetEvents HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      }
      const drip = setInterval(() => void drops.read(1), 50);
      await eventually(
        'the connections are closed',
        async () => (await metricsAt(service.url)).get('webhook_connections') === 1,
      );
      clearInterval(drip);
      expect((await metricsAt(service.url)).get('webhook_refusals_total{reason="timeout"}')).toBe(2);
      for (const socket of [idle, drops]) socket.destroy();
      await service.stop();
    },
  );

  it('MAX_CONNECTIONS is answered with 503 until a connection is closed', async () => {
    const service = await startService({ MAX_CONNECTIONS: '3' });
    const sockets = [];
    for (let i = 0; i < 3; i++) sockets.push(await openConnection(service.url));
    const answer = await untilClosed(await openConnection(service.url));
    expect(answer).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*more than 3 \(MAX_CONNECTIONS\)\.\n$/);
    for (const socket of sockets) socket.destroy();
    await eventually('a connection is taken again', async () => {
      const again = await send(`${service.url}/HelloWorld`).catch(() => undefined);
      return again?.status === 200;
    });
    await expectNothingHeld(service);
  });

  it.each(BINDINGS)('MAX_IN_FLIGHT is answered with 503 over %s, with SOAP in a fault', async (binding) => {
    const waiting: ((value: { id: string; recorded: boolean }[]) => void)[] = [];
    const append = () => new Promise<{ id: string; recorded: boolean }[]>((resolve) => waiting.push(resolve));
    const log = Object.assign(openMemoryLog(), { append });
    const service = await startService({ MAX_IN_FLIGHT: '2' }, log);
    const first = [call(service.url, binding), call(service.url, binding)];
    await eventually('two calls are in flight', () => waiting.length === 2);
    expectRefusal(await call(service.url, binding), binding, 503, 'more than 2 (MAX_IN_FLIGHT)');
    for (const resolve of waiting) resolve([{ id: 'x', recorded: true }]);
    for (const answer of await Promise.all(first)) expect(answer.status).toBe(200);
    expect(await callOperation(service.url, binding, 'HelloWorld')).toBe('Hello World');
    await expectNothingHeld(service);
  });

  const compressed = gzipSync(randomBytes(900_000));
  it.each([
    ['a length', 'Content-Length: 1000000', 'x'.repeat(900_000)],
    ['chunks', 'Transfer-Encoding: chunked', `${(900_000).toString(16)}\r\n${'x'.repeat(900_000)}`],
    [
      'compression',
      `Content-Length: ${String(compressed.length)}\r\nContent-Encoding: gzip`,
      compressed.subarray(0, -8),
    ],
  ])(
    'MAX_BODY_MEMORY is answered with 503 for bodies with %s, while small ones are read',
    async (_how, fields, body) => {
      const service = await startService({ MAX_BODY_MEMORY: '1048576', MAX_REQUEST_BYTES: '1000000' });
      const head = `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n\r\n`;
      const request = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
      const held = await openConnection(service.url);
      held.write(request);
      const refused = await openConnection(service.url);
      const answer = untilClosed(refused);
      refused.write(request);
      // Whichever of the two came last has no room.
      const other = untilClosed(held);
      const text = await Promise.race([answer, other]);
      expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*more than 1048576 bytes together \(MAX_BODY_MEMORY\)\.\n$/);
      expect((await call(service.url, 'soap11')).status).toBe(200);
      for (const socket of [held, refused]) socket.destroy();
      await eventually(
        'the connections are closed',
        async () => (await metricsAt(service.url)).get('webhook_connections') === 1,
      );
      await eventually('a large body is taken again', async () => {
        const large = await send(`${service.url}/RecordEvent`, { method: 'POST', body: 'x'.repeat(900_000) });
        return large.status === 200;
      });
      await expectNothingHeld(service);
    },
  );

  it('MAX_BODY_MEMORY counts what a compressed body becomes', async () => {
    const service = await startService({ MAX_BODY_MEMORY: '1048576', MAX_REQUEST_BYTES: '1000000' });
    const body = gzipSync('x'.repeat(900_000));
    const post = () =>
      send(`${service.url}/RecordEvent`, { method: 'POST', headers: { 'Content-Encoding': 'gzip' }, body });
    const held = await openConnection(service.url);
    held.write(
      `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(200_000)}`,
    );
    await eventually('there is no room', async () => (await post()).status === 503);
    held.destroy();
    await eventually('there is room again', async () => (await post()).status === 200);
    // What is answered is given back.
    for (let i = 0; i < 3; i++) expect((await post()).status).toBe(200);
    await expectNothingHeld(service);
  });

  it('RATE_LIMIT is answered with 429 over every binding, for documents and for too many header fields', async () => {
    const service = await startService({ RATE_LIMIT: '3/1m', TRUST_PROXY: '1' });
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    for (const binding of BINDINGS) {
      const client = from(`192.0.2.${String(BINDINGS.indexOf(binding))}`);
      for (let i = 0; i < 3; i++) expect((await call(service.url, binding, client)).status).toBe(200);
      expectRefusal(await call(service.url, binding, client), binding, 429, 'more than 3 in 60 s (RATE_LIMIT)');
    }
    const pages = await Promise.all([1, 2, 3, 4].map(() => send(service.url, { headers: from('192.0.2.99') })));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429]);
    expect(pages.find(({ status }) => status === 429)?.headers['retry-after']).toBeDefined();
    const fields = `Host: localhost\r\nX-Forwarded-For: 192.0.2.98\r\n${'a:\r\n'.repeat(99)}`;
    for (const status of [431, 431, 431, 429])
      expect(await sendRaw(service.url, `GET ${PATH} HTTP/1.1\r\n${fields}\r\n`)).toContain(
        `HTTP/1.1 ${String(status)} `,
      );
    await expectNothingHeld(service);
  });
});

/** The data of an event: a large text that would consist of escapes is in it as bytes. */
function dataOf(event: StoredEvent | undefined): string {
  const read = JSON.parse(`{${event?.data ?? ''}}`) as { data: string } | { data_base64: string };
  return 'data' in read ? read.data : Buffer.from(read.data_base64, 'base64').toString();
}

describe('a large message', () => {
  it('with too many fields or JSON values is recorded as text', async () => {
    const service = await startService();
    const bodies = [
      ['application/x-www-form-urlencoded', 'a=1&'.repeat(10_001)],
      ['application/json', `[${'[],'.repeat(100_001)}1]`],
    ] as const;
    for (const [type, body] of bodies) {
      const headers = { 'Content-Type': type };
      expect((await send(`${service.url}/RecordEvent`, { method: 'POST', headers, body })).status).toBe(200);
      const event = (await service.log.scan({ after: 0, limit: 10 })).at(-1);
      expect(dataOf(event) === body).toBe(true);
    }
    await expectNothingHeld(service);
  });
});

it('a half-open connection is closed', async () => {
  const service = await startService();
  const socket = await openConnection(service.url);
  socket.end();
  await once(socket.resume(), 'close');
  expect((await metricsAt(service.url)).get('webhook_connections')).toBe(1);
  await expectNothingHeld(service);
});
