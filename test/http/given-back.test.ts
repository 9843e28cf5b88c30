import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readConfig } from '../../src/config/config';
import { HttpServer } from '../../src/http/server';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { expectNothingHeld } from '../support/nothing-held';
import { openConnection, sendRaw, untilClosed } from '../support/raw';
import { startService } from '../support/service';
import { openWire } from '../support/wire';

const PATH = '/webhooks/Services/WebHooks.asmx';

it('a server that is closed has no timer left', async () => {
  const timers = new Set<number>();
  let isServing = true;
  const hook = createHook({
    init: (id, type) => isServing && type === 'Timeout' && timers.add(id),
    destroy: (id) => timers.delete(id),
  }).enable();
  const { limits } = readConfig({});
  const server = new HttpServer({ pages: new Map(), limits });
  await server.listen({ port: 0, host: '127.0.0.1' });
  expect(timers.size).toBeGreaterThan(0);
  await server.close();
  isServing = false;
  await eventually('the timers are gone', () => timers.size === 0);
  hook.disable();
});

it('a service whose admin port is taken leaves its public port closed', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  const free = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(taken, 'listening'), once(free, 'listening')]);
  const port = (free.address() as AddressInfo).port;
  const adminPort = (taken.address() as AddressInfo).port;
  await new Promise((resolve) => free.close(resolve));
  await expect(startService({ PORT: String(port), ADMIN_PORT: String(adminPort) })).rejects.toThrow(
    'another program uses it',
  );
  await expect(openConnection(`http://127.0.0.1:${String(port)}`)).rejects.toThrow('ECONNREFUSED');
  await new Promise((resolve) => taken.close(resolve));
});

describe('a request', () => {
  it.each([
    ['OPTIONS of an operation', `OPTIONS ${PATH}/RecordEvent`],
    ['OPTIONS of the server', 'OPTIONS *'],
  ])('%s with a huge body is answered and closed, and the body not read', async (_what, line) => {
    const service = await startService();
    const answer = await sendRaw(
      service.url,
      `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\nx`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 204 [\s\S]*Connection: close\r\n/);
    await expectNothingHeld(service);
  });

  it.each([
    ['gzip', '\x1f\x8b\x08\x00\xff'],
    ['deflate', '\x1f\x8b\x08'],
  ])('whose %s cannot be decoded is refused', async (coding, body) => {
    const service = await startService();
    const fields = `Content-Encoding: ${coding}\r\nContent-Length: ${String(body.length)}\r\n`;
    const wire = await openWire(service.url);
    wire.write(`POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`, Buffer.from(body, 'latin1'));
    expect(await wire.until(/it is not valid/)).toMatch(/^HTTP\/1\.1 400 /);
    wire.socket.destroy();
    await expectNothingHeld(service);
  });

  it.each(['GET', 'POST'])('%s that expects 100-continue without a body keeps its connection', async (method) => {
    const service = await startService();
    const wire = await openWire(service.url);
    const length = method === 'POST' ? 'Content-Length: 0\r\n' : '';
    wire.write(`${method} ${PATH}/HelloWorld HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n${length}\r\n`);
    await wire.until(/Hello World/);
    wire.write(`GET ${PATH}/HelloWorld HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect((await wire.untilClosed()).match(/Hello World/g)).toHaveLength(2);
    await expectNothingHeld(service);
  });

  it.each(['Via', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Forwarded-Server'])(
    'with %s, which a proxy adds, is not shown events without a key',
    async (name) => {
      const service = await startService();
      expect((await send(`${service.url}?events`)).status).toBe(200);
      expect((await send(`${service.url}?events`, { headers: { [name]: '1.1 proxy' } })).status).toBe(403);
      await expectNothingHeld(service);
    },
  );

  it('that is aborted in any state gives back what it held', async () => {
    const service = await startService({ REQUEST_TIMEOUT: '1s' });
    const body = 'x'.repeat(100_000);
    const starts = [
      'POS',
      `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n`,
      `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n${body.slice(1)}`,
      `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n${body}`,
      `POST ${PATH}/RecordEvent HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n${body}`,
      `GET ${PATH}/GetEvents?after=999&wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(3),
      `GET ${PATH}?events HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(5),
    ];
    for (let round = 0; round < 3; round++) {
      for (const start of starts) {
        const socket = await openConnection(service.url);
        const closed = untilClosed(socket);
        socket.write(start);
        await new Promise((resolve) => setTimeout(resolve, round * 10));
        socket.resetAndDestroy();
        await closed;
      }
    }
    await expectNothingHeld(service);
  });
});
