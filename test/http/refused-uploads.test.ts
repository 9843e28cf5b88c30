import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { HttpRequest } from '../../src/http/request';
import { openMemoryLog } from '../../src/log/memory/event-log';
import { Deferred } from '../../src/util/promises';
import { eventually } from '../support/eventually';
import { ask, BINDINGS, post } from '../support/bindings';
import { send, type Answer } from '../support/http';
import { expectNothingHeldAfterEach } from '../support/nothing-held';
import { slowLog } from '../support/slow-log';
import { startService } from '../support/service';
import { openWire, PATH, request } from '../support/wire';
import { securityHeader, usernameToken } from '../support/wsse';

const KEY = 'record-key-0123456789';
const GIBIBYTE = 1024 ** 3;
expectNothingHeldAfterEach();

// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its request
const original = HttpRequest.prototype.push;

/** Sends a body without end, as fast as it is taken; resolves to what came back and how many bytes went out. */
async function flood(url: string, head: string, chunked = false): Promise<{ text: string; bytes: number }> {
  const wire = await openWire(url);
  wire.write(head);
  const part = 'x'.repeat(65_536);
  const body = Buffer.from(chunked ? `10000\r\n${part}\r\n` : part);
  let open = true;
  const closed = wire.untilClosed().finally(() => (open = false));
  let sent = 0;
  while (open && sent < GIBIBYTE) {
    sent += body.length;
    if (!wire.socket.write(body)) await Promise.race([once(wire.socket, 'drain'), closed]).catch(() => undefined);
  }
  return { text: await closed, bytes: sent };
}

describe('before the body arrives', () => {
  const RECORD = `${PATH}/RecordEvent`;
  const HELLO = `${PATH}/HelloWorld`;
  const HUGE = 'Content-Length: 10000000000\r\n';
  const LARGE = 'Content-Length: 4000000\r\n';
  const headOf = (path: string, fields: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;

  const KEYS = { RECORD_KEYS: KEY };
  const BOUNDED = { ...KEYS, MAX_REQUEST_BYTES: '1024' };
  it.each<[string, number, string, Record<string, string>?]>([
    ['a payload that is too large', 413, headOf(RECORD, HUGE)],
    ['a message that no key would allow', 413, headOf(PATH, `Content-Type: text/xml\r\n${LARGE}`), BOUNDED],
    ['an image', 415, headOf(PATH, `Content-Type: image/png\r\n${LARGE}`)],
    ['an unknown coding', 415, headOf(RECORD, `Content-Encoding: lzw\r\n${LARGE}`)],
    ['a payload without a key', 401, headOf(RECORD, LARGE), KEYS],
    ['a body at an address with nothing', 404, headOf('/nowhere', LARGE)],
    ['a GET with a body that is too large', 413, headOf(HELLO, HUGE).replace('POST', 'GET')],
  ])(
    '%s is answered with %i and the connection closed, with Expect and without',
    async (_what, status, head, ...[variables]) => {
      const service = await startService(variables);
      for (const expectation of ['', 'Expect: 100-continue\r\n']) {
        const wire = await openWire(service.url);
        wire.write(head.replace('\r\n\r\n', `\r\n${expectation}\r\n`));
        const text = await wire.untilClosed();
        expect(text).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
        expect(text).toContain('\r\nConnection: close\r\n');
      }
    },
  );

  it.each([
    { status: 413, how: 'with a length', field: HUGE },
    { status: 413, how: 'in chunks', field: 'Transfer-Encoding: chunked\r\n', chunked: true },
    { status: 429, how: 'of any length', field: HUGE, variables: { RATE_LIMIT: '1/1m' } },
  ])('$status stops an upload $how that does not look at the answer', async ({ status, field, chunked, variables }) => {
    const service = await startService(variables);
    expect((await send(`${service.url}/HelloWorld`)).status).toBe(200);
    const { text, bytes } = await flood(service.url, headOf(RECORD, field), chunked);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} [^]*\r\nConnection: close\r\n`));
    expect(bytes).toBeLessThan(64 * 1024 * 1024);
  });
});

const signed = (signature: string) =>
  `/RecordEvent HTTP/1.1\r\nX-Hub-Signature-256: ${signature}\r\nContent-Length: 1000000`;
it.each([
  ['what is left of refused requests', signed('sha256=00')],
  [
    'what is left of those refused as they arrive',
    ' HTTP/1.1\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked',
    'F4240\r\n',
  ],
  ['the bodies of callers who have yet to prove who they are', signed(`sha256=${'0'.repeat(64)}`)],
])('one piece of %s is read in a turn, however many send', async (_what, head, ...[chunk = '']) => {
  const service = await startService({ WEBHOOK_SECRETS: KEY, MAX_BODY_MEMORY: '67108864' });
  let pieces = 0;
  const turns: number[] = [];
  const push = jest.spyOn(HttpRequest.prototype, 'push').mockImplementation(function (this: HttpRequest, piece) {
    pieces++;
    return original.call(this, piece);
  });
  const turn = (): void => {
    if (pieces > 0) turns.push(pieces);
    pieces = 0;
    if (push.mock.calls.length < 100) setImmediate(turn);
  };
  turn();
  const body = chunk + 'x'.repeat(1_000_000);
  const wires = await Promise.all(Array.from({ length: 12 }, () => openWire(service.url)));
  for (const wire of wires) wire.write(`POST ${PATH}${head}\r\nHost: localhost\r\n\r\n`, body);
  for (const wire of wires) await wire.until(/ 401 /);
  await eventually('many pieces are read', () => push.mock.calls.length >= 100);
  push.mockRestore();
  expect(turns.sort((a, b) => a - b)[turns.length >> 1]).toBeLessThan(4);
  for (const wire of wires) wire.socket.destroy();
});

describe('callers who have proved nothing share a quarter', () => {
  const limits = { MAX_REQUEST_BYTES: '1000000', MAX_BODY_MEMORY: '1048576', MAX_CONNECTIONS: '24' };
  const variables = { RECORD_KEYS: KEY, WEBHOOK_SECRETS: KEY, ...limits };

  it.each([
    { what: 'large bodies', bytes: 60_000, admitted: 4 },
    { what: 'bodies that are awaited', bytes: 10, admitted: 6 },
  ])('of the $what, and leave the rest to those with a key', async ({ what, bytes, admitted }) => {
    const { url } = await startService(variables);
    const signature = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
    const fields = `X-Hub-Signature-256: ${signature['X-Hub-Signature-256']}\r\nContent-Length: ${String(bytes + 1)}\r\n`;
    const answers: string[] = [];
    const wires = await Promise.all(Array.from({ length: admitted + 2 }, () => openWire(url)));
    for (const wire of wires) {
      wire.write(`POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n${'x'.repeat(bytes)}`);
      void wire.until(/ 503 [^]*without a valid key/).then((text) => answers.push(text), String);
    }
    await eventually('those beyond the share are refused', () => answers.length === 2);
    for (const text of answers)
      expect(text).toMatch(
        new RegExp(`^HTTP/1.1 503 .*\r\nRetry-After: 1\r\n.*Too many ${what} of callers without`, 's'),
      );
    expect((await post(url, 'x'.repeat(700_000), { 'X-API-Key': KEY })).status).toBe(200);
    for (const wire of wires) wire.socket.destroy();
    await eventually(
      'another one is admitted',
      async () => (await post(url, 'x'.repeat(60_000), signature)).status === 401,
    );
  });

  const large = 'x'.repeat(60_000);
  const signature = `sha256=${createHmac('sha256', KEY).update(large).digest('hex')}`;
  const blocks = securityHeader(usernameToken(KEY));
  it.each([
    ['signature', (url: string) => post(url, large, { 'X-Hub-Signature-256': signature })],
    ['password', (url: string) => ask(url, 'soap11', 'RecordEvent', { inside: large, blocks })],
  ])('of large bodies, and a %s takes theirs out of that share', async (_what, call) => {
    const { log, answer, events } = slowLog();
    const { url } = await startService({ ...variables, MAX_IN_FLIGHT: '6' }, log);
    const answers: Promise<Answer>[] = [];
    for (let i = 1; i <= 6; i++) {
      answers.push(call(url));
      await eventually('the call is in flight', () => events() === i);
    }
    answer();
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  });

  it.each(BINDINGS)('of the slots, over %s, also for operations that need no proof', async (binding) => {
    const { promise, resolve } = new Deferred<[]>();
    const read = jest.fn(() => promise);
    const { url } = await startService({ ...variables, MAX_IN_FLIGHT: '3' }, Object.assign(openMemoryLog(), { read }));
    const first = ask(url, binding, 'GetEvents');
    await eventually('the call is in flight', () => read.mock.calls.length === 1);
    expect((await ask(url, binding, 'GetEvents')).body).toContain('Too many calls in flight of callers without');
    resolve([]);
    expect((await first).status).toBe(200);
  });
});

it('MAX_BODY_MEMORY counts what compressed bodies inflate to, not what they may', async () => {
  const service = await startService({ MAX_BODY_MEMORY: '4194304' });
  const compressed = gzipSync('a small event');
  const fields = ['Content-Encoding: gzip', `Content-Length: ${String(compressed.length)}`];
  const wires = await Promise.all(Array.from({ length: 20 }, () => openWire(service.url)));
  for (const wire of wires) wire.write(request(`POST ${PATH}/RecordEvent`, ...fields), compressed.subarray(0, -1));
  expect((await post(service.url, 'x'.repeat(1_000_000))).status).toBe(200);
  for (const wire of wires) wire.write(compressed.subarray(-1));
  for (const wire of wires) await wire.until(/^HTTP\/1.1 200 /);
});
